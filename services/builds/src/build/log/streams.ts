import type { LiveLogSource } from "@svc/mesh";
import { type builds, liveSubject, type StreamTicket, streamName } from "@svc/proto";

export const logSource = (id: string): LiveLogSource => ({ owner: "builds", noun: "log", key: id });

const tail = 1_000;

/** What a gateway reads for a viewer of a build that has not ended. */
export function ticketOf(id: string): StreamTicket {
  return { stream: `${streamName("builds")}_LIVE`, subject: liveSubject("builds", "log", id), tail };
}

/** The body of the last event of a log. */
export function endOf(status: builds.BuildStatus): string {
  return JSON.stringify({ status });
}
