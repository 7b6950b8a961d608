// Who published a message. NATS sends its answers to any subject that the requester names, also into another service's
// stream: so a message counts only when it has our header and none of those that NATS adds to a stored message.

import type { MsgHdrs } from "@nats-io/transport-node";
import type { Core } from "../core.ts";

const publisherHeader = "Svc-Publisher";
/** The id that its publisher gave it. */
export const idHeader = "Svc-Message-Id";
const answerHeaders = ["Nats-Stream", "Nats-Subject", "Nats-Sequence", "Nats-Time-Stamp"] as const;
/** On what JetStream itself stores when an entry expires. */
const markerHeader = "Nats-Marker-Reason";

/** Headers of every message that this process stores. */
export function publisherHeaders(core: Pick<Core, "service">): Record<string, string> {
  return { [publisherHeader]: core.service };
}

/**
 * Whether a service published this. `way`: `delivered` came by a subscription or a pull; `read` is the answer of a
 * direct get, which has each header of an answer once.
 */
export function isPublished(headers: MsgHdrs | undefined, way: "delivered" | "read"): boolean {
  if (!headers || (!headers.has(publisherHeader) && !headers.has(markerHeader))) return false;
  const wanted = way === "read" ? 1 : 0;
  return answerHeaders.every((name) => headers.values(name).length === wanted);
}

/** Whether a subject matches a filter with `*` and `>`: what a pull delivers keeps the subject it was published to. */
export function fitsFilter(filter: string, subject: string): boolean {
  const wanted = filter.split(".");
  const given = subject.split(".");
  const isOpen = wanted.at(-1) === ">";
  if (isOpen ? given.length < wanted.length : given.length !== wanted.length) return false;
  return wanted.every((word, at) => word === "*" || word === ">" || word === given[at]);
}
