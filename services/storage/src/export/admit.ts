// Counts downloads across all replicas. An export is recorded before it is counted, and a counted one without an entry, or
// with an ended one, no longer counts: so a process that dies leaves nothing to release.

import { createHash } from "node:crypto";
import { Fault } from "@svc/proto";
import type { ExportDeps } from "./deps.ts";
import {
  checkOwn,
  checkPlatform,
  groupOf,
  type Limits,
  limitsOf,
  type Start,
  withinWindow,
} from "./limits.ts";
import type { StoredExport } from "./state.ts";
import { isLive } from "./state.ts";

const tries = 20;

/** Throws `export_busy`. */
export async function admit(
  deps: Pick<ExportDeps, "settings" | "now" | "exports" | "exportStarts">,
  started: StoredExport,
): Promise<void> {
  const group = groupOf(started.kind);
  const limits = limitsOf(group, deps.settings.storage);
  const start = { id: started.id, at: deps.now() };
  const own = ownKey(group, started.user_id);
  await count(deps, own, async (starts) => {
    const recent = withinWindow(starts, deps.now(), limits.windowMs);
    checkOwn(limits, { starts: recent, live: (await liveOf(deps, recent)).length, now: deps.now() });
    return [...recent, start];
  });
  try {
    await countPlatform(deps, group, limits, start);
  } catch (error) {
    await forget(deps, own, start.id);
    throw error;
  }
}

function countPlatform(
  deps: Pick<ExportDeps, "exports" | "exportStarts">,
  group: string,
  limits: Limits,
  start: Start,
): Promise<void> {
  return count(deps, group, async (starts) => {
    const live = await liveOf(deps, starts);
    checkPlatform(limits, live.length);
    return [...live, start];
  });
}

/** Removes a start that never got a Job from the counts. */
export async function refund(deps: Pick<ExportDeps, "exportStarts">, started: StoredExport): Promise<void> {
  const group = groupOf(started.kind);
  await forget(deps, ownKey(group, started.user_id), started.id);
  await forget(deps, group, started.id);
}

function ownKey(group: string, userId: string): string {
  return `${group}/${createHash("sha256").update(userId).digest("hex").slice(0, 32)}`;
}

async function forget(deps: Pick<ExportDeps, "exportStarts">, key: string, id: string): Promise<void> {
  await count(deps, key, async (starts) => starts.filter((start) => start.id !== id)).catch(() => {});
}

async function liveOf(deps: Pick<ExportDeps, "exports">, starts: readonly Start[]): Promise<Start[]> {
  const entries = await Promise.all(starts.map(({ id }) => deps.exports.get(id)));
  return starts.filter((_, index) => {
    const entry = entries[index];
    return entry !== undefined && isLive(entry.value);
  });
}

async function count(
  deps: Pick<ExportDeps, "exportStarts">,
  key: string,
  change: (starts: readonly Start[]) => Promise<Start[]>,
): Promise<void> {
  for (let left = tries; left > 0; left--) {
    const entry = await deps.exportStarts.get(key);
    const value = { starts: await change(entry?.value.starts ?? []) };
    const written = entry
      ? await deps.exportStarts.update(key, value, entry.revision)
      : await deps.exportStarts.create(key, value);
    if (written !== undefined) return;
  }
  throw new Fault("overloaded", { retryAfterSeconds: 1 });
}
