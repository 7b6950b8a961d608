// Where the servers of a node that is drained go (docs/reference/moves.md#drain). Pure.

import type { nodes, OutputOf } from "@svc/proto";

export type NodeServer = {
  name: string;
  /** Its limit in bytes; 0 without one. */
  memory: number;
  isAwake: boolean;
  /** The login gate and the lobby belong to the platform. */
  isSystem: boolean;
};

export type Move = { name: string; to: string; isAwake: boolean };
/** Without a world: bound to another node, and stopped before and woken afterwards if it is awake. */
type Unstarted = { name: string; to?: string; isAwake: boolean };
export type DrainPlan = { unstarted: Unstarted[]; moves: Move[]; stay: { name: string; why: string }[] };
/** What lifecycle would do with the servers that have no world. */
type Anew = OutputOf<typeof nodes.placeUnstarted>;

const reasons: Record<nodes.UnstartedReason, string> = {
  awake: "it has no world yet and is awake",
  held: "its world is being worked on",
  volume_being_made: "its volume is being made there; wait, or delete the claim",
  no_node: "no other node takes servers",
  no_room: "no node has so much memory left",
  changed: "somebody changed it meanwhile; drain again",
};

/**
 * The largest server first, each to the node with the most memory that no server has yet, as new servers are placed. `to`
 * allows one target only. Sleeping servers come first, since nobody waits for them.
 */
export function planDrain(
  servers: readonly NodeServer[],
  rooms: readonly nodes.NodeRoom[],
  { from, to, anew = { placed: [], stay: [] } }: { from: string; to?: string | undefined; anew?: Anew },
): DrainPlan {
  const memoryOf = new Map(servers.map((one) => [one.name, one.memory]));
  const free = new Map<string, number>();
  for (const { name, memory, assigned, takes_servers } of rooms)
    if (takes_servers && name !== from && (to === undefined || name === to))
      free.set(name, memory - assigned);
  for (const { name, to: node } of anew.placed)
    free.set(node, (free.get(node) ?? 0) - (memoryOf.get(name) ?? 0));
  const plan: DrainPlan = { unstarted: unstartedOf(anew), moves: [], stay: staysOf(anew) };
  const known = new Set([...anew.placed, ...anew.stay].map(({ name }) => name));
  const others = servers.filter(({ name }) => !known.has(name));
  const bySize = others.sort((a, b) => b.memory - a.memory || (a.name < b.name ? -1 : 1));
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

function unstartedOf({ placed, stay }: Anew): Unstarted[] {
  const awake = stay.filter(({ reason }) => reason === "awake");
  return [
    ...placed.map(({ name, to }) => ({ name, to, isAwake: false })),
    ...awake.map(({ name }) => ({ name, isAwake: true })),
  ];
}

function staysOf({ stay }: Anew): DrainPlan["stay"] {
  return stay.flatMap(({ name, reason }) => (reason === "awake" ? [] : [{ name, why: reasons[reason] }]));
}

export const whyItStays = (reason: nodes.UnstartedReason) => reasons[reason];
