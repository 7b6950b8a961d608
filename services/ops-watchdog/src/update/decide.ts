// What a report says of one component (docs/reference/updates.md#states).
//
// | Installed version | Feed | State |
// | --- | --- | --- |
// | unreadable | any | unreadable |
// | read | none, unreadable or without a usable version | unknown |
// | read | lists a newer one (PostgreSQL and Node: of the same major version) | available |
// | read | lists nothing newer | current |
// | pinned by a setting | not asked | pinned |

import type { updates } from "@svc/proto";
import { compareVersions, newestOf, numbersOf } from "./version.ts";

export type Read<T> = { kind: "read"; value: T } | { kind: "failed"; error: string };
export type Feed = Read<{ versions: readonly string[]; note?: string | undefined }> | { kind: "none" };

export type Observed = {
  name: string;
  installed: Read<string>;
  feed: Feed;
  isPinned: boolean;
  /** Compared within its major version: a newer major needs a migration of its own. */
  withinMajor: boolean;
};

export function decideComponent(observed: Observed): updates.UpdateComponent {
  const { name, installed, feed } = observed;
  const about = { name, selector: `--${name}` };
  if (installed.kind === "failed") return { ...about, state: "unreadable", error: installed.error };
  const current = installed.value;
  const numbers = numbersOf(current);
  if (!numbers) return { ...about, state: "unreadable", error: `${current} is not a version` };
  if (observed.isPinned) return { ...about, state: "pinned", current, note: "Pinned by a setting." };
  if (feed.kind === "none") return { ...about, state: "unknown", current, note: noFeed(name) };
  if (feed.kind === "failed") return { ...about, state: "unknown", current, error: feed.error };
  const note = feed.value.note === undefined ? {} : { note: feed.value.note };
  const latest = newestOf(feed.value.versions, observed.withinMajor ? numbers[0] : undefined);
  if (latest === undefined)
    return {
      ...about,
      ...note,
      state: "unknown",
      current,
      error: "the feed lists no version to compare with",
    };
  const isNewer = compareVersions(numbers, numbersOf(latest) ?? []) < 0;
  return isNewer
    ? { ...about, ...note, state: "available", current, latest }
    : { ...about, ...note, state: "current", current };
}

function noFeed(name: string): string {
  return `No feed is configured; set ops_watchdog.feed_${name}.`;
}
