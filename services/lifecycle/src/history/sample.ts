// What one sample says of each server (docs/reference/history.md#sampling). Pure.

import type { PodMetrics } from "@svc/kube";
import { isUserName } from "@svc/proto";
import { conditionOf } from "../cluster/condition.ts";
import { parseQuantity } from "../cluster/quantity.ts";
import type { Server } from "../cluster/resource.ts";

/** What is known of a server now; what a source did not give is absent and stays a gap. */
export type Sample = {
  name: string;
  players?: number | undefined;
  usage?: Usage | undefined;
  tps?: number | undefined;
};

export type Usage = { memoryMib: number; cpuMilli: number };

export type PlatformSample = { awake: number; players: number };

// Both are what somebody else's server or cluster says; sums of a step must fit their columns.
const maxPlayers = 1_000_000;
const maxUsage = 10_000_000;
const mebibyte = 2 ** 20;

function isRunning({ status }: Server): boolean {
  return status?.phase === "Running" && status.ready === true;
}

/** Running servers of users; sleeping ones are not sampled, and the platform's own have no owner who asks. */
export function isSampled(server: Server): boolean {
  return isUserName(server.metadata.name) && isRunning(server);
}

/** Undefined while the count is unknown, which is not zero. */
function playersOf({ status }: Server): number | undefined {
  if (conditionOf(status?.conditions, "PlayersCounted")?.status !== "True") return undefined;
  const online = status?.players?.online;
  return online === undefined ? undefined : Math.min(maxPlayers, Math.max(0, online));
}

export function decideSamples(servers: readonly Server[], usages: ReadonlyMap<string, Usage>): Sample[] {
  return servers.filter(isSampled).map((server) => {
    const { name } = server.metadata;
    return { name, players: playersOf(server), usage: usages.get(name) };
  });
}

/** Players wait in the lobby too, so those of the platform's servers count. */
export function decidePlatformSample(servers: readonly Server[]): PlatformSample {
  const players = servers.filter(isRunning).reduce((sum, server) => sum + (playersOf(server) ?? 0), 0);
  return { awake: servers.filter(isSampled).length, players: Math.min(maxPlayers, players) };
}

/** Usage by name of the server, of pods whose every container was measured. */
export function usagesOf(pods: readonly PodMetrics[]): Map<string, Usage> {
  const usages = new Map<string, Usage>();
  for (const { metadata, containers = [] } of pods) {
    if (!metadata.name.endsWith("-0") || containers.length === 0) continue;
    const total = (resource: "cpu" | "memory") =>
      containers.reduce((sum, { usage }) => sum + (parseQuantity(usage?.[resource] ?? "") ?? Number.NaN), 0);
    const [cpu, memory] = [total("cpu"), total("memory")];
    if (!(cpu >= 0 && memory >= 0)) continue;
    usages.set(metadata.name.slice(0, -"-0".length), {
      memoryMib: Math.min(maxUsage, Math.round(memory / mebibyte)),
      cpuMilli: Math.min(maxUsage, Math.round(cpu * 1_000)),
    });
  }
  return usages;
}
