import { z } from "zod";

const quantity = (fallback: string) =>
  z
    .string()
    .regex(/^\d+(\.\d+)?(m|[KMGT]i?)?$/, "must be a quantity of Kubernetes, such as 500m or 2Gi")
    .default(fallback);

/** Requests, and the limit of memory; processor time is not limited. */
export const resourcesOf = (cpu: string, memory: string, limit: string) =>
  z
    .strictObject({
      cpu: quantity(cpu).describe("Requested processor time."),
      memory: quantity(memory).describe("Requested memory."),
      memoryLimit: quantity(limit).describe("Most memory; the container is restarted above it."),
    })
    .prefault({})
    .describe("What its container gets.");

export const replicas = (fallback: number) =>
  z.int().min(1).max(20).default(fallback).describe("Pods of it.");

export const stringMap = (what: string) => z.record(z.string(), z.string()).default({}).describe(what);

const name = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
export const kubeName = (fallback: string, what: string) =>
  z.string().regex(name, "must be a name of Kubernetes").default(fallback).describe(what);

export const storage = (size: string, what: string) =>
  z
    .strictObject({
      size: quantity(size).describe(`Size of ${what}.`),
      storageClass: z.string().default("").describe("Storage class; empty = the cluster's default."),
    })
    .prefault({})
    .describe("Where its data lies.");

export const text = (what: string, fallback = "") => z.string().default(fallback).describe(what);
export const isOn = (fallback: boolean, what: string) => z.boolean().default(fallback).describe(what);
export const port = (fallback: number, what: string) =>
  z.int().min(1).max(65_535).default(fallback).describe(what);
export { quantity };
