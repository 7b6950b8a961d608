// Facts for the tables of the reaper's tests.

import type { BackupRow } from "../../database/tables.ts";
import type { WorldServer } from "../../reaper/decide.ts";

export const now = Date.parse("2026-06-01T04:00:00Z");
export const at = (ms: number) => new Date(ms).toISOString();

type Loose<T> = { [K in keyof T]?: T[K] | undefined };

/** A stopped server with an owner, active a moment ago. A field that is given as undefined is left out. */
export function aWorld(about: Loose<WorldServer> = {}): WorldServer {
  const world = {
    name: "survival",
    exists: true,
    owner_id: "usr-1",
    last_active_at: at(now),
    reaper_exempt: false,
    system: false,
    phase: "Stopped",
    desired_state: "Stopped",
    stopped: true,
    volume_claim: "world-survival-0",
    ...about,
  };
  const there = Object.entries(world).filter(([, value]) => value !== undefined);
  return Object.fromEntries(there) as WorldServer;
}

/** A present backup of `aWorld()`, made a moment ago. */
export function aBackup(about: Partial<BackupRow> = {}): BackupRow {
  return {
    id: "bk-1",
    server_name: "survival",
    former_owner: "usr-1",
    backup_ref: "/archive/survival-1.tar.zst",
    size_bytes: 1_000,
    reason: "manual",
    status: "present",
    created_at: new Date(now),
    expires_at: new Date(now + 90 * 86_400_000),
    deleted_at: null,
    offsite_at: null,
    sha256: "0".repeat(64),
    verified_at: null,
    corrupt_at: null,
    skipped_entries: 0,
    unreadable_entries: 0,
    label: "",
    pinned_at: null,
    pinned_by_owner: false,
    job: null,
    world_bytes: null,
    ...about,
  };
}
