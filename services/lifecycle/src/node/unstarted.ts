// Where the servers of a node go that have no world yet (docs/reference/moves.md#unstarted). Pure.

import type { PersistentVolumeClaim } from "@svc/kube";
import type { nodes } from "@svc/proto";
import { limitOf } from "../cluster/memory.ts";
import { type Server, systemRoleOf } from "../cluster/resource.ts";
import { isAtRest } from "../world/world-server.ts";

/** A server of the node as it is in the cluster. */
export type Found = {
  readonly server: Server;
  readonly claim: PersistentVolumeClaim | undefined;
  readonly hasPod: boolean;
  /** Whether somebody works on its world. */
  readonly isHeld: boolean;
};

type Placed = { readonly server: Server; readonly to: string };
type Stay = { readonly name: string; readonly reason: nodes.UnstartedReason };

/** The scheduler notes there for which node it has a volume made. */
const selectedNode = "volume.kubernetes.io/selected-node";

/**
 * Servers that have a world, or belong to the platform, are left out. The largest first, each to the node with the most
 * memory that no server has yet; `to` allows one node only.
 */
export function planUnstarted(
  found: readonly Found[],
  rooms: readonly nodes.NodeRoom[],
  { from, to }: { from: string; to?: string | undefined },
): { placed: Placed[]; stay: Stay[] } {
  const free = new Map<string, number>();
  for (const { name, memory, assigned, takes_servers } of rooms)
    if (takes_servers && name !== from && (to === undefined || name === to))
      free.set(name, memory - assigned);
  const placed: Placed[] = [];
  const stay: Stay[] = [];
  const bySize = found
    .filter((one) => !hasWorld(one) && systemRoleOf(one.server) === "")
    .sort((a, b) => limitOf(b.server) - limitOf(a.server) || (nameOf(a) < nameOf(b) ? -1 : 1));
  for (const one of bySize) {
    const [best] = [...free].sort(([nameA, a], [nameB, b]) => b - a || (nameA < nameB ? -1 : 1));
    const memory = limitOf(one.server);
    const obstacle = obstacleOf(one);
    if (obstacle) stay.push({ name: nameOf(one), reason: obstacle });
    else if (!best) stay.push({ name: nameOf(one), reason: "no_node" });
    else if (best[1] < memory) stay.push({ name: nameOf(one), reason: "no_room" });
    else {
      placed.push({ server: one.server, to: best[0] });
      free.set(best[0], best[1] - memory);
    }
  }
  return { placed, stay };
}

const nameOf = ({ server }: Found) => server.metadata.name;

/** A claim that is being deleted may still be one with a world. */
function hasWorld({ claim }: Found): boolean {
  if (!claim) return false;
  const { metadata, spec, status } = claim;
  return Boolean(spec?.volumeName) || status?.phase === "Bound" || metadata.deletionTimestamp !== undefined;
}

function obstacleOf({ server, claim, hasPod, isHeld }: Found): nodes.UnstartedReason | undefined {
  if (isHeld) return "held";
  if (!isAtRest(server, hasPod)) return "awake";
  return claim?.metadata.annotations?.[selectedNode] === undefined ? undefined : "volume_being_made";
}
