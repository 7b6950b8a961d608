// Validation of what staff set on a server (docs/reference/server-resource.md#objects, docs/reference/server-resource.md#create). Pure.

import { isUserName, type MinecraftServerSpec } from "@svc/proto";
import { heapOf, parseQuantity, positiveQuantity } from "../cluster/quantity.ts";
import type { LifecycleSettings } from "../config.ts";
import type { Costs } from "../database/server-row.ts";

const mebibyte = 2 ** 20;
/** Maximum of the database column; no quota is larger (docs/reference/settings.md). */
const maxCost = 2_147_483_647;

/** A fault by name, with a message where the default one is not specific enough. */
export type Refusal = {
  fault: "bad_name" | "bad_subdomain" | "bad_display_name" | "bad_idle_stop" | "bad_request";
  message?: string;
};

export function faultOfName(name: string): Refusal | undefined {
  return isUserName(name) ? undefined : { fault: "bad_name" };
}

export function faultOfSubdomain(subdomain: string): Refusal | undefined {
  return isUserName(subdomain) ? undefined : { fault: "bad_subdomain" };
}

// Letters, marks, digits, punctuation, symbols and spaces; the zero-width joiner combines emoji.
const graphic = /^(?:\p{L}|\p{M}|\p{N}|\p{P}|\p{S}|\p{Zs}|\u200D)*$/u;

export function faultOfDisplayName(text: string): Refusal | undefined {
  const isFine = graphic.test(text) && [...text].length <= 64;
  return isFine ? undefined : { fault: "bad_display_name" };
}

export function faultOfIdle(seconds: number): Refusal | undefined {
  const isFine = seconds === 0 || (seconds >= 60 && seconds <= 86_400);
  return isFine ? undefined : { fault: "bad_idle_stop" };
}

/** As `faultOfIdle`, within what the installation allows owners. */
export function faultOfOwnIdle(
  seconds: number,
  { owner_idle_min: minMs, owner_idle_max: maxMs, owner_idle_off: mayBeOff }: OwnIdleBounds,
): Refusal | undefined {
  if (seconds === 0 && mayBeOff) return undefined;
  const [min, max] = [minMs / 1_000, maxMs / 1_000];
  if (seconds !== 0 && seconds >= min && seconds <= max) return faultOfIdle(seconds);
  const message = `idleStopSeconds must be ${mayBeOff ? "0 (off) or " : ""}${min} to ${max} here; staff can set more.`;
  return { fault: "bad_idle_stop", message };
}
type OwnIdleBounds = Pick<LifecycleSettings, "owner_idle_min" | "owner_idle_max" | "owner_idle_off">;

export function faultOfQuantity(field: string, value: string): Refusal | undefined {
  if (positiveQuantity(value) !== undefined) return undefined;
  return { fault: "bad_request", message: `${field} must be a quantity above zero such as 2Gi.` };
}

/** Idle settings of the spec. Switching off keeps the seconds, so that "off" differs from "never set". */
export function idleOf(seconds: number, before: number): NonNullable<MinecraftServerSpec["idle"]> {
  return seconds === 0
    ? { autoStopEnabled: false, emptySecondsBeforeStop: before }
    : { autoStopEnabled: true, emptySecondsBeforeStop: seconds };
}

type ResourceInput = {
  memory?: string | undefined;
  resources?:
    | {
        cpu?: string | undefined;
        cpuRequest?: string | undefined;
        memory?: string | undefined;
        memoryRequest?: string | undefined;
      }
    | undefined;
};

type ResourceOutcome =
  | { kind: "fine"; resources: NonNullable<MinecraftServerSpec["resources"]>; javaMemory: string | undefined }
  | { kind: "refused"; refusal: Refusal };

/**
 * Limits and requests after a change: `memory` sets limit and request, `resources` overrides single values, and an empty
 * text removes a CPU value. The heap changes only with the memory limit.
 */
export function mergeResources(
  before: { resources?: MinecraftServerSpec["resources"]; javaMemory?: string | undefined },
  input: ResourceInput,
  settings: Pick<LifecycleSettings, "heap_reserve_min">,
): ResourceOutcome {
  const limits = { ...before.resources?.limits };
  const requests = { ...before.resources?.requests };
  if (input.memory !== undefined) limits["memory"] = requests["memory"] = input.memory;
  const { cpu, cpuRequest, memory, memoryRequest } = input.resources ?? {};
  assign(limits, "memory", memory);
  assign(requests, "memory", memoryRequest);
  assign(limits, "cpu", cpu);
  assign(requests, "cpu", cpuRequest);
  const refusal = faultOfResources({ limits, requests }, { memory: memory ?? input.memory, memoryRequest });
  if (refusal) return { kind: "refused", refusal };
  const limit = limits["memory"];
  const hasChanged = limit !== before.resources?.limits?.["memory"];
  const heap =
    limit !== undefined && hasChanged ? heapOf(limit, settings.heap_reserve_min) : before.javaMemory;
  return { kind: "fine", resources: { limits, requests }, javaMemory: heap };
}

function assign(target: Record<string, string>, key: string, value: string | undefined): void {
  if (value === undefined) return;
  if (value === "") delete target[key];
  else target[key] = value;
}

function faultOfResources(
  { limits, requests }: { limits: Record<string, string>; requests: Record<string, string> },
  given: { memory: string | undefined; memoryRequest: string | undefined },
): Refusal | undefined {
  if (given.memory === "" || given.memoryRequest === "") {
    return { fault: "bad_request", message: "memory cannot be removed; give a quantity such as 2Gi." };
  }
  for (const [kind, values] of Object.entries({ limit: limits, request: requests })) {
    for (const [name, value] of Object.entries(values)) {
      const fault = faultOfQuantity(`The ${name} ${kind}`, value);
      if (fault) return fault;
    }
  }
  for (const [name, request] of Object.entries(requests)) {
    const limit = limits[name];
    if (limit === undefined || (parseQuantity(request) ?? 0) <= (parseQuantity(limit) ?? 0)) continue;
    return {
      fault: "bad_request",
      message: `The ${name} request (${request}) is above the limit (${limit}).`,
    };
  }
  return undefined;
}

/** What a server counts against its owner's quota. */
export function costsOf(spec: MinecraftServerSpec): Costs {
  const limits = spec.resources?.limits ?? {};
  const inUnits = (value: string | undefined, unit: number) =>
    Math.min(maxCost, Math.max(0, Math.round((parseQuantity(value ?? "") ?? 0) / unit)));
  return {
    cpuMilli: inUnits(limits["cpu"], 1 / 1_000),
    memoryMb: inUnits(limits["memory"], mebibyte),
    storageMb: inUnits(spec.storage?.size, mebibyte),
  };
}
