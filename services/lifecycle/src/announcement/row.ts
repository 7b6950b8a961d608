// An announcement as it is stored, and as others see it. Pure.

import type { announcements as contracts } from "@svc/proto";
import type { Selectable } from "kysely";
import type { AnnouncementsTable } from "../database/schema.ts";
import { stateOf } from "./rules.ts";

export type AnnouncementRow = Selectable<AnnouncementsTable>;

export function toAnnouncement(row: AnnouncementRow): contracts.Announcement {
  const { id, severity, maintenance } = row;
  return {
    id,
    text: { en: row.text_en, ...(row.text_zh !== null && { zh: row.text_zh }) },
    severity,
    start: row.starts_at.toISOString(),
    end: row.ends_at.toISOString(),
    maintenance,
    public: row.public,
  };
}

export function toStaffAnnouncement(
  row: AnnouncementRow & { servers_told?: number },
  now: number,
): contracts.StaffAnnouncement {
  const { created_by, changed_by, changed_at } = row;
  return {
    ...toAnnouncement(row),
    state: stateOf(row, now),
    ended: row.ended_at !== null,
    created_by,
    created_at: row.created_at.toISOString(),
    ...(changed_by !== null && { changed_by }),
    ...(changed_at !== null && { changed_at: changed_at.toISOString() }),
    servers_told: row.servers_told ?? 0,
  };
}
