// The streams of a console on the mesh: the server's log, and the notes that svc adds to it.

import type { LiveLogSource } from "@svc/mesh";
import { liveSubject, type StreamTicket, streamName } from "@svc/proto";

const streamOf = (name: string, what: "log" | "note"): LiveLogSource => ({
  owner: "lifecycle",
  noun: "console",
  key: `${name}.${what}`,
});

/** Only the follower of the server writes here. */
export const logStream = (name: string): LiveLogSource => streamOf(name, "log");
/** Any replica adds lines here; viewers read both streams merged. */
export const noteStream = (name: string): LiveLogSource => streamOf(name, "note");

/** What a gateway reads for a viewer. */
export function ticketOf(name: string, tail: number): StreamTicket {
  const subject = liveSubject("lifecycle", "console", `${name}.*`);
  return { stream: `${streamName("lifecycle")}_LIVE`, subject, tail };
}
