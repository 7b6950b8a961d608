// Where the servers of a node that is drained go (docs/reference/moves.md#drain). Pure.

import type { nodes } from "@svc/proto";

export type NodeServer = {
  name: string;
  /** Its limit in bytes; 0 without one. */
  memory: number;
  isAwake: boolean;
  /** The login gate and the lobby belong to the platform. */
  isSystem: boolean;
};

export type Move = { name: string; to: string; isAwake: boolean };
export type DrainPlan = { moves: Move[]; stay: { name: string; why: string }[] };

/**
 * The largest server first, each to the node with the most memory that no server has yet, as new servers are placed. `to`
 * allows one target only. Sleeping servers come first, since nobody waits for them.
 */
export function planDrain(
  servers: readonly NodeServer[],
  rooms: readonly nodes.NodeRoom[],
  { from, to }: { from: string; to?: string | undefined },
): DrainPlan {
  const free = new Map<string, number>();
  for (const { name, memory, assigned, takes_servers } of rooms)
    if (takes_servers && name !== from && (to === undefined || name === to))
      free.set(name, memory - assigned);
  const plan: DrainPlan = { moves: [], stay: [] };
  const bySize = [...servers].sort((a, b) => b.memory - a.memory || (a.name < b.name ? -1 : 1));
  for (const { name, memory, isAwake, isSystem } of bySize) {
    const [best] = [...free].sort(([nameA, a], [nameB, b]) => b - a || (nameA < nameB ? -1 : 1));
    if (isSystem) plan.stay.push({ name, why: "it belongs to the platform; its pod is rescheduled" });
    else if (!best) plan.stay.push({ name, why: "no other node takes servers" });
    else if (best[1] < memory) plan.stay.push({ name, why: "no node has so much memory left" });
    else {
      plan.moves.push({ name, to: best[0], isAwake });
      free.set(best[0], best[1] - memory);
    }
  }
  plan.moves.sort((a, b) => Number(a.isAwake) - Number(b.isAwake));
  return plan;
}
