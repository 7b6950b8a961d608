// What servers and the platform did over the last days (docs/reference/history.md).
// Vocabulary: step = the time that one value of a series stands for; gap = a step about which nothing is known, null in
// every series and never 0.

import { z } from "zod";
import { operation } from "../contract.ts";
import { Timestamp } from "../text.ts";
import { ServerNameParam } from "./names.ts";
import { Phase } from "./server-info.ts";

export const HistoryRange = z.enum(["24h", "7d", "30d"]);
export type HistoryRange = z.output<typeof HistoryRange>;

/** Minutes that a range covers, and those of one step of it. */
export const historyRanges: Record<HistoryRange, { minutes: number; stepMinutes: number }> = {
  "24h": { minutes: 24 * 60, stepMinutes: 5 },
  "7d": { minutes: 7 * 24 * 60, stepMinutes: 30 },
  "30d": { minutes: 30 * 24 * 60, stepMinutes: 120 },
};

const external = { method: "GET", face: "external" } as const;
const range = { range: HistoryRange.default("24h") };

/** One value for each step, the oldest first; null where nothing is known. */
const Series = z.array(z.number().min(0).nullable()).max(400);

const head = {
  range: HistoryRange,
  /** Begin of the first step. */
  from: Timestamp,
  step_seconds: z.number().int().min(1),
};

/** The size of a world as a backup found it, unpacked. */
export const WorldSize = z.strictObject({ at: Timestamp, bytes: z.number().int().min(0) });

export const ServerHistory = z.strictObject({
  ...head,
  server: z.string(),
  /** Players on average, and most at one time. */
  players: Series,
  players_max: Series,
  /** Of the whole server, on average; null where the cluster measures nothing. */
  memory_bytes: Series,
  /** Thousandths of a processor, on average. */
  cpu_milli: Series,
  /** Ticks a second as the server's own command gives them, on average. */
  tps: Series,
  /** Changes of phase in order; the first one may be earlier than `from`. */
  phases: z.array(z.strictObject({ at: Timestamp, phase: Phase })),
  /** Bytes of the world at each of its backups; left out while storage does not answer. */
  world_sizes: z.array(WorldSize).optional(),
  /** Starts that succeeded, and how long each took. */
  starts: z.array(z.strictObject({ at: Timestamp, seconds: z.number().min(0) })),
});
export type ServerHistory = z.output<typeof ServerHistory>;

export const PlatformHistory = z.strictObject({
  ...head,
  /** User servers that ran, on average. */
  awake: Series,
  /** Players on all servers, on average, and most at one time. */
  players: Series,
  players_max: Series,
  /** Servers that began to start from rest. */
  wakes: Series,
  /** Seconds that half of the successful starts of a step took at most, and those that 95 of 100 did. */
  start_p50_seconds: Series,
  start_p95_seconds: Series,
});
export type PlatformHistory = z.output<typeof PlatformHistory>;

export const readServer = operation({
  subject: "lifecycle.history.read-server",
  http: { ...external, path: "/api/v1/servers/{name}/history", tier: "app", rights: ["see"] },
  params: { name: ServerNameParam },
  query: range,
  output: ServerHistory,
  faults: ["bad_name", "not_found"],
  maxInFlight: 32,
  summary: "Players, phases, start times, memory, processor and ticks of a server since its owner has it.",
  spec: "docs/reference/history.md#server",
});

export const readPlatform = operation({
  subject: "lifecycle.history.read-platform",
  http: { ...external, path: "/api/v1/platform/history", tier: "admin" },
  query: range,
  output: PlatformHistory,
  maxInFlight: 8,
  summary: "Servers awake, players, wakes and start times of the whole platform.",
  spec: "docs/reference/history.md#platform",
});
