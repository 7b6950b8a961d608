// Checks of a server before a Job may access its world.

import { resources } from "@svc/kube";
import { Fault, isFault, worlds } from "@svc/proto";
import type { ClusterDeps, StorageDeps } from "../deps.ts";
import { inNamespace } from "../deps.ts";

export type WorldServer = worlds.WorldServer;
type CallDeps = { mesh: Pick<StorageDeps["mesh"], "call"> };

/** Reads the server from lifecycle; throws `not_found` for an unknown server, also when only its row is left. */
export async function describeWorld({ mesh }: CallDeps, name: string): Promise<WorldServer> {
  const world = await mesh.call(worlds.describeServer, { name });
  if (!world.exists) throw new Fault("not_found", { message: `There is no server ${name}.` });
  return world;
}

/** As `describeWorld`, but undefined when there is no such server. */
export async function findWorld(deps: CallDeps, name: string): Promise<WorldServer | undefined> {
  return describeWorld(deps, name).catch((error: unknown) => {
    if (isFault(error) && error.fault === "not_found") return undefined;
    throw error;
  });
}

export function assertStopped(world: WorldServer): void {
  if (!world.stopped) throw new Fault("not_stopped");
}

/** With an unbound claim the Job's pod would wait for its deadline, or archive an empty world. */
export async function assertVolume(deps: ClusterDeps, world: WorldServer): Promise<void> {
  const claim = await deps.kube.find(resources.claims, { name: world.volume_claim, ...inNamespace(deps) });
  const isThere = claim?.status?.phase === "Bound" && claim.metadata.deletionTimestamp === undefined;
  if (!isThere) throw new Fault("no_world_volume");
}

export function assertConfigured({ settings }: Pick<StorageDeps, "settings">): void {
  if (settings.storage.agent_image !== "") return;
  throw new Fault("unavailable", {
    message: "World jobs are not configured: storage.agent_image is empty.",
  });
}

/** Every server, from lifecycle's rows: enough to choose from, not to act on. */
export async function listWorlds({ mesh }: Pick<StorageDeps, "mesh">): Promise<WorldServer[]> {
  const all: WorldServer[] = [];
  let cursor: string | undefined;
  do {
    const page = await mesh.call(worlds.listWorlds, cursor === undefined ? {} : { cursor });
    all.push(...page.items);
    cursor = page.next;
  } while (cursor !== undefined);
  return all;
}
