import { type Kube, resources } from "@svc/kube";
import { type Holder, holderOf } from "./holder.ts";
import { type LockedServer, worldJobLabels } from "./names.ts";

/** The time at which a lock is judged; `ttlMs` defaults to `lockTtlMs`. */
type LockClock = { now: number; ttlMs?: number };

/**
 * Who holds the lock of the world of a server now; undefined when nobody does. Lists the server's
 * Jobs; the annotation comes from the given object, which must have been read before (docs/reference/world-lock.md#lock).
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
