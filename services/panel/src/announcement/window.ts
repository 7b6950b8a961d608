// Maintenance windows (docs/reference/announcements.md#maintenance). Pure.

import type { Output } from "../api/operations.ts";

type Items = readonly Pick<
  Output<"announcements.listShown">["items"][number],
  "maintenance" | "start" | "end"
>[];

/** Unix milliseconds at which the last maintenance that lasts now ends; undefined when none is known. */
export function maintenanceEnd(items: Items, now: number): number | undefined {
  const ends = items.flatMap(({ maintenance, start, end }) =>
    maintenance && Date.parse(start) <= now && now < Date.parse(end) ? [Date.parse(end)] : [],
  );
  return ends.length === 0 ? undefined : Math.max(...ends);
}
