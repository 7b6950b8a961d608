// How many downloads one account and the platform may have (docs/reference/exports.md#limits). Pure.

import { type exports, Fault } from "@svc/proto";
import type { Settings } from "../config.ts";

type Group = "export" | "download";
export type Start = { id: string; at: number };

/** Files and folders are counted separately from backups and worlds. */
export function groupOf(kind: exports.ExportKind): Group {
  return kind === "backup" || kind === "world" ? "export" : "download";
}

export type Limits = {
  perUser: number;
  platform: number;
  hourly: number;
  windowMs: number;
  retryOwnMs: number;
  retryPlatformMs: number;
};

export function limitsOf(group: Group, storage: Settings["storage"]): Limits {
  const shared = {
    windowMs: storage.export_window,
    retryOwnMs: storage.export_retry_own,
    retryPlatformMs: storage.export_retry_platform,
  };
  return group === "export"
    ? {
        ...shared,
        perUser: storage.export_per_user,
        platform: storage.export_platform,
        hourly: storage.export_hourly,
      }
    : {
        ...shared,
        perUser: storage.download_per_user,
        platform: storage.download_platform,
        hourly: storage.download_hourly,
      };
}

/** Throws `export_busy` when this account has reached its limit, in parallel or per hour. */
export function checkOwn(
  limits: Limits,
  about: { starts: readonly Start[]; live: number; now: number },
): void {
  const { starts, live, now } = about;
  if (live >= limits.perUser) {
    throw busy("You have another download in progress; wait until it ends.", limits.retryOwnMs);
  }
  if (starts.length < limits.hourly) return;
  const oldest = Math.min(...starts.map(({ at }) => at));
  throw busy(
    `You started ${limits.hourly} downloads within the last hour; wait and try again.`,
    oldest + limits.windowMs - now,
  );
}

/** Throws `export_busy` when the platform has reached its limit. */
export function checkPlatform(limits: Limits, live: number): void {
  if (live < limits.platform) return;
  throw busy("Too many downloads are in progress; try again in a minute.", limits.retryPlatformMs);
}

/** Starts within the window. */
export function withinWindow(starts: readonly Start[], now: number, windowMs: number): Start[] {
  return starts.filter(({ at }) => at > now - windowMs);
}

function busy(message: string, waitMs: number): Fault {
  return new Fault("export_busy", { message, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) });
}
