// The states of an export. pending -> ready (its Job's PUT is parked) -> streaming (the browser connected; the ticket is spent)
// -> spent; pending -> failed when the Job died; whatever is not fetched in time is spent. Every step is a
// compare-and-set, so that of two browsers, or of a browser and a sweep, one wins.

import type { BucketEntry } from "@svc/mesh";
import type { exports } from "@svc/proto";
import type { ExportDeps } from "./deps.ts";

type Deps = Pick<ExportDeps, "settings" | "now" | "transferMetrics" | "exports">;

export type StoredExport = exports.StoredExport;
export type Entry = BucketEntry<StoredExport>;
type State = StoredExport["state"];

const live: ReadonlySet<State> = new Set(["pending", "ready", "streaming"]);

/** Whether the export counts against its limits. */
export function isLive({ state }: Pick<StoredExport, "state">): boolean {
  return live.has(state);
}

/** The entry after a transition; undefined when it was changed concurrently. */
export async function transition(
  deps: Deps,
  entry: Entry,
  change: Pick<StoredExport, "state"> & Partial<Pick<StoredExport, "lane" | "message" | "code">>,
): Promise<Entry | undefined> {
  const { lane: _lane, ...kept } = entry.value;
  const value = { ...kept, ...change, changed_at: deps.now() };
  const { export_kept, export_deadline, export_appear } = deps.settings.storage;
  const ttlMs = isLive(value) ? export_deadline + export_appear : export_kept;
  const revision = await deps.exports.update(entry.key, value, entry.revision, { ttlMs });
  if (revision === undefined) return undefined;
  if (!isLive(value)) deps.transferMetrics.exportEnded(value.kind, value.state);
  return { key: entry.key, value, revision };
}

/** Ends an export in any state, with `failed` or `spent`; does nothing when it has ended. */
export async function endExport(
  deps: Deps,
  id: string,
  how: { state: "failed" | "spent"; message?: string },
): Promise<void> {
  for (let left = 5; left > 0; left--) {
    const entry = await deps.exports.get(id);
    if (!entry || !isLive(entry.value)) return;
    if (await transition(deps, entry, how)) return;
  }
}
