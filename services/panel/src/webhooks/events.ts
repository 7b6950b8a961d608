// Which events a webhook can have (docs/reference/webhooks.md#rights); a test holds them against the contracts, of which the panel
// ships types only.

import type { Right } from "../access/presets.ts";
import type { Event, Place } from "./use-webhooks.ts";

export const serverEvents = [
  ...["server.starting", "server.ready", "server.stopped", "server.failed", "server.crashed"],
  ...["server.hung", "player.joined", "player.left", "backup.succeeded", "backup.failed"],
  ...["restore.succeeded", "restore.failed", "schedule.failed"],
] as Event[];
export const platformEvents: readonly Event[] = [
  ...serverEvents,
  ...(["alert.firing", "alert.resolved"] as const),
  ...(["build.succeeded", "build.failed", "build.cancelled"] as const),
];

export const eventRights: Readonly<Partial<Record<Event, Right>>> = {
  "player.joined": "players",
  "player.left": "players",
  "schedule.failed": "schedules",
};

/** What somebody with these rights may be told of a server; staff of the whole installation. */
export function offeredEvents(place: Place, may: (right: Right) => boolean): Event[] {
  if (place === "platform") return [...platformEvents];
  return serverEvents.filter((event) => {
    const right = eventRights[event];
    return right === undefined || may(right);
  });
}
