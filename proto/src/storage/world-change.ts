// That something changed in what storage keeps of a world or does with it (docs/reference/events.md#stream).

import { z } from "zod";
import { event } from "../contract.ts";

/** A Job, a change of files, a move, a drill or a backup. */
const WorldChangeType = z.enum(["job", "file", "move", "drill", "backup"]);

/** Written by triggers of the tables, in the transaction of the change: whoever wants to know more asks. */
export const worldChanged = event({
  subject: "storage.world.changed",
  data: z.object({
    server_name: z.string(),
    type: WorldChangeType,
    /** Of a change of files: this is its end. */
    ended: z.boolean().optional(),
  }),
  key: (data) => data.server_name,
  sample: { server_name: "survival", type: "job" },
  listeners: ["gateway-external"],
  summary:
    "A Job, a change of files, a move, a drill or a backup of a server's world began, changed or ended.",
});
