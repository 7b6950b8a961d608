import { servers as resource, type Server } from "../cluster/resource.ts";
import type { ScheduleDeps } from "./deps.ts";
import type { Observed } from "./observed.ts";
import type { FoundTask } from "./store.ts";

/** Reads the server from the cluster itself: a copy may be older than what another replica did for the same run. */
export async function observe(deps: ScheduleDeps, found: FoundTask): Promise<Observed> {
  return toObserved(deps, found, await readServer(deps, found.row.server_name));
}

/** From this replica's copy of the cluster: good enough to see whether a task is due. */
export function observeFromCopy(deps: ScheduleDeps, found: FoundTask): Observed {
  return toObserved(deps, found, deps.servers.get(found.row.server_name));
}

/** Without the server, for plans that do not need it. */
export function toObserved(deps: ScheduleDeps, found: FoundTask, server: Server | undefined): Observed {
  return { ...found, server, now: deps.now(), settings: deps.settings };
}

export async function readServer(
  { kube, namespace }: ScheduleDeps,
  name: string,
): Promise<Server | undefined> {
  const server = await kube.find(resource, { name, namespace });
  return server?.metadata.deletionTimestamp === undefined ? server : undefined;
}
