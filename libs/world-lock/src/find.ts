import { type Kube, resources } from "@svc/kube";
import { type Holder, holderOf } from "./holder.ts";
import { type LockedServer, worldJobLabels } from "./names.ts";

/** When a lock is looked at; `ttlMs` is `lockTtlMs` unless given. */
export type LockClock = { now: number; ttlMs?: number };

/**
 * Who holds the world of a server now; undefined when nobody does. Asks the cluster for the server's Jobs; its
 * annotation is read from the object that is given, which must have been read before (behaviour.md h.1).
 */
export async function findHolder(
  kube: Pick<Kube, "list">,
  server: Pick<LockedServer, "metadata">,
  clock: LockClock,
): Promise<Holder | undefined> {
  const { name, namespace = "default" } = server.metadata;
  const labelSelector = `${worldJobLabels.server}=${name}`;
  const { items } = await kube.list(resources.jobs, { namespace, labelSelector });
  return holderOf(server, items, clock);
}
