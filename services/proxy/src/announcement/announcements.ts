// What staff announce, as it was last heard: it is told while the service is away, too (docs/reference/announcements.md#game).

import type { announcements as contracts } from "@svc/proto";
import type { InternalApi } from "../api/internal-api.ts";

export type Announcement = contracts.Announcement;

export type Announcements = {
  /** One poll; a failed one keeps what is known. */
  refresh: () => Promise<void>;
  all: () => readonly Announcement[];
  /** The maintenance window that lasts now and ends last. */
  window: () => Announcement | undefined;
};

export function createAnnouncements({
  api,
  now,
}: {
  api: Pick<InternalApi, "listAnnouncements">;
  now: () => number;
}): Announcements {
  let known: readonly Announcement[] = [];
  return {
    refresh: async () => {
      const answer = await api.listAnnouncements();
      if (answer.ok) known = answer.value.items;
    },
    all: () => known,
    window: () => windowAt(known, now()),
  };
}

export function windowAt(all: readonly Announcement[], now: number): Announcement | undefined {
  const lasting = all.filter(
    ({ maintenance, start, end }) => maintenance && Date.parse(start) <= now && now < Date.parse(end),
  );
  return lasting.sort((one, other) => Date.parse(other.end) - Date.parse(one.end))[0];
}
