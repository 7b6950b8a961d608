// The stream of changes that gateways make for a signed-in caller (docs/reference/events.md#stream).
// Vocabulary: notice = one message of the stream; it says where something changed, never what it is now.

import { z } from "zod";
import { nothing, operation } from "../contract.ts";
import { crashed } from "../lifecycle/crash.ts";
import { runFinished, scheduleChanged } from "../lifecycle/schedule.ts";
import { serverOwners, servers } from "../lifecycle/server.ts";
import { ServerChangeType, serverChangeRights } from "../lifecycle/server-rows.ts";
import { worldChanged } from "../storage/world-change.ts";

/** The data of one message. */
export const ChangeNotice = z.strictObject({ type: ServerChangeType, server: z.string() });
export type ChangeNotice = z.output<typeof ChangeNotice>;

const schedule = () => ServerChangeType.enum.schedule;

export const watch = operation({
  subject: "lifecycle.change.watch",
  http: {
    method: "GET",
    path: "/api/v1/me/events",
    face: "external",
    tier: "app",
    kind: "events",
    changes: {
      of: servers,
      beside: serverOwners,
      rights: serverChangeRights,
      events: [
        { event: scheduleChanged, typeOf: schedule },
        { event: runFinished, typeOf: schedule },
        { event: crashed, typeOf: () => ServerChangeType.enum.crash },
        { event: worldChanged, typeOf: (data) => worldChanged.data.parse(data).type },
      ],
    },
    rights: ["see"],
    serversBy: "owner",
  },
  output: nothing,
  faults: ["too_many_streams"],
  summary: "Which servers of the caller something changes at: phase, players, tasks, Jobs, files, backups.",
  spec: "docs/reference/events.md#stream",
});
