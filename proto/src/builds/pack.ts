// Packs without a Dockerfile: how an uploaded `.mrpack` or CurseForge zip is processed (docs/reference/submissions.md#packs).
// The plan is made once, when the upload is complete, and is part of the context that is reviewed and built.

import { z } from "zod";
import { ByteCount, Sha256Hex } from "../text.ts";

export const PackFormat = z.enum(["modrinth", "curseforge"]);
export type PackFormat = z.output<typeof PackFormat>;

export const PackLoader = z.enum(["vanilla", "fabric", "quilt", "forge", "neoforge"]);
export type PackLoader = z.output<typeof PackLoader>;

const hex = (chars: number) => z.string().regex(new RegExp(`^[0-9a-f]{${chars}}$`));

/** One file that the build fetches. */
export const PackDownload = z.strictObject({
  /** Below `server/` of the context. */
  path: z.string().min(1).max(4_096),
  size: ByteCount,
  /** At least one of both; every one that is given must match. */
  sha512: hex(128).optional(),
  sha1: hex(40).optional(),
  /** Addresses with https, tried in this order. */
  urls: z.array(z.url()).min(1).max(8),
});
export type PackDownload = z.output<typeof PackDownload>;

/** Why a file of the pack is not on the server: only clients need it, it is optional, or an override takes its place. */
export const PackLeftOut = z.strictObject({
  path: z.string(),
  reason: z.enum(["client", "optional", "replaced"]),
});
export type PackLeftOut = z.output<typeof PackLeftOut>;

/** What a pack says of itself, and the base that the operator's table has for it. */
export const PackSummary = z.strictObject({
  format: PackFormat,
  name: z.string(),
  version: z.string(),
  loader: PackLoader,
  /** Absent for `vanilla`. */
  loader_version: z.string().optional(),
  minecraft: z.string(),
  /** Of the file that was uploaded. */
  source_sha256: Sha256Hex,
  base_image: z.string(),
});

/** `pack.json` at the root of the context that was made of a pack. */
export const PackPlan = PackSummary.extend({
  downloads: z.array(PackDownload),
  left_out: z.array(PackLeftOut),
});
export type PackPlan = z.output<typeof PackPlan>;

/** Files and folders of the context that is made of a pack. */
export const packFiles = {
  plan: "pack.json",
  /** Overrides and downloads: what the template copies. */
  server: "server",
} as const;
