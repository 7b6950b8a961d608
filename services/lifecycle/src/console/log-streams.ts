// Where the lines of a console are on the mesh: the server's own log, and what svc says beside it.

import type { LiveLogSource } from "@svc/mesh";
import { liveSubject, type StreamTicket, streamName } from "@svc/proto";

const place = (name: string, what: "log" | "note"): LiveLogSource => ({
  owner: "lifecycle",
  noun: "console",
  key: `${name}.${what}`,
});

/** Only the follower of the server writes here. */
export const logStream = (name: string): LiveLogSource => place(name, "log");
/** Everybody may add a line here; it is read in between. */
export const noteStream = (name: string): LiveLogSource => place(name, "note");

/** What a gateway reads for a viewer. */
export function ticketOf(name: string, tail: number): StreamTicket {
  const subject = liveSubject("lifecycle", "console", `${name}.*`);
  return { stream: `${streamName("lifecycle")}_LIVE`, subject, tail };
}
