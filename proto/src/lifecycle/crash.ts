// Why a server's process ended or stopped answering (docs/reference/crashes.md).
// Vocabulary: crash = an end that nobody asked for; report = what is kept of it; cause = what the report says it was, one of
// a closed list.

import { z } from "zod";
import { event, operation } from "../contract.ts";
import { Timestamp } from "../text.ts";
import { ServerNameParam } from "./names.ts";

/** Reports that are kept of a server, the newest. */
export const maxCrashes = 20;
/** Lines of its log that a report keeps, the last ones, and what they may have together. */
export const maxCrashLines = 200;
export const maxCrashBytes = 32_768;

/** Extended with the table in lifecycle; `unknown` is no entry of it (docs/reference/crashes.md#causes). */
export const CrashCause = z.enum([
  "memory_limit",
  "java_heap",
  "eula",
  "wrong_java",
  "port_in_use",
  "world_in_use",
  "disk_full",
  "corrupt_world",
  "newer_world",
  "missing_dependency",
  "mod_conflict",
  "tick_stalled",
  "evicted",
  "unresponsive",
  "hung",
  "unknown",
]);
export type CrashCause = z.output<typeof CrashCause>;

const external = { method: "GET", face: "external", tier: "app" } as const;
const path = "/api/v1/servers/{name}/crashes";
const wholeBytes = z.number().int().min(0);

const crash = {
  id: z.string(),
  /** When the process ended, or stopped answering. */
  at: Timestamp,
  cause: CrashCause,
  /** What the log names, such as a mod: one line, never more than 200 characters. */
  detail: z.string().max(200).optional(),
  /** Absent where there is none: after an eviction, and while a process hangs. */
  exit_code: z.number().int().optional(),
  /** As the cluster says it: `OOMKilled`, `Error`, `Completed`, `Evicted`. */
  exit_reason: z.string().max(64).optional(),
  /** How long the process had run. */
  ran_seconds: z.number().int().min(0),
  /** Whether players could join in this run; otherwise the start failed. */
  was_running: z.boolean(),
  /** Of the newest sample in the ten minutes before the end; absent where nothing was measured. */
  memory_bytes: wholeBytes.optional(),
  memory_limit_bytes: wholeBytes.optional(),
  /** Ticks a second, of the newest sample in the same time; absent where the server's command does not give them. */
  tps: z.number().min(0).optional(),
  /** The most that its log says it was behind. */
  behind_ms: z.number().int().min(0).optional(),
  /** True when the game's watchdog spoke of a tick that did not end. */
  watchdog: z.boolean().optional(),
};

/** One report without its lines. */
export const Crash = z.strictObject(crash);
export type Crash = z.output<typeof Crash>;

const CrashReport = z.strictObject({
  server: z.string(),
  ...crash,
  /** The last lines of the log, the oldest first, without secrets; empty when the log was gone. */
  lines: z.array(z.string()).max(maxCrashLines),
});

export const CrashList = z.strictObject({ server: z.string(), crashes: z.array(Crash).max(maxCrashes) });
export type CrashList = z.output<typeof CrashList>;

export const list = operation({
  subject: "lifecycle.crash.list",
  http: { ...external, path, rights: ["see"] },
  params: { name: ServerNameParam },
  output: CrashList,
  faults: ["bad_name", "not_found"],
  maxInFlight: 32,
  summary: "Crashes of a server since its owner has it, the newest first, each with its cause.",
  spec: "docs/reference/crashes.md#read",
});

export const read = operation({
  subject: "lifecycle.crash.read",
  http: { ...external, path: `${path}/{id}`, rights: ["see", "console.read"] },
  params: { name: ServerNameParam, id: z.string().min(1).max(64) },
  output: CrashReport,
  faults: ["bad_name", "not_found"],
  maxInFlight: 32,
  summary: "One crash with the last lines of the server's log.",
  spec: "docs/reference/crashes.md#read",
});

export const crashed = event({
  subject: "lifecycle.crash.recorded",
  data: z.object({ name: z.string(), id: z.string(), cause: z.string(), at: z.iso.datetime() }),
  key: (data) => data.name,
  sample: {
    name: "survival",
    id: "6f0c4e0a-53f0-4b0e-9a55-0d1d36e4c1de",
    cause: "memory_limit",
    at: "2026-01-01T00:00:00.000Z",
  },
  listeners: ["gateway-external"],
  summary: "A server's process ended without being asked to, and its report can be read.",
});
