// Whose webhook of a server it is, and what it may be told (docs/reference/webhooks.md#rights, #end). Pure.

import { isLive, type MemberFacts, type MemberRight, webhooks } from "@svc/proto";

type EventType = webhooks.WebhookEventType;

/** Which of these events somebody with these rights may not be told. */
export function closedTo(rights: readonly MemberRight[], events: readonly EventType[]): EventType[] {
  return events.filter((event) => {
    const right = webhooks.eventRights[event];
    return right !== undefined && !rights.includes(right);
  });
}

type Standing =
  | "stands"
  /** The server has another owner, none, or is gone: the webhook goes too. */
  | "owner_gone"
  /** Who saved it last cannot sign in, or may not any more, or may not be told one of its events: it is switched off. */
  | "access_ended"
  /** It is no longer among the webhook's events: this delivery is not sent. */
  | "event_removed";

type Saved = { owner_id: string | null; saved_by: string; events: readonly string[] };
type Sharing = { owner_id?: string | undefined; members: readonly MemberFacts[] };

type Known = {
  sharing: Sharing | undefined;
  /** Whether the account of who saved it last is disabled or gone. */
  isDisabled?: boolean;
  now: number;
};

/**
 * What becomes of a delivery of this type; `sharing` is undefined when there is no such server, `now` is in Unix
 * milliseconds. What was queued for other events does not follow a webhook to the address of somebody who chose fewer.
 */
export function decideStanding(
  { owner_id, saved_by, events }: Saved,
  type: EventType,
  { sharing, isDisabled = false, now }: Known,
): Standing {
  const isRemoved = type !== "ping" && !events.includes(type);
  if (owner_id === null) return isRemoved ? "event_removed" : "stands";
  if (!sharing || sharing.owner_id !== owner_id) return "owner_gone";
  if (isDisabled) return "access_ended";
  if (saved_by !== owner_id) {
    const member = sharing.members.find(({ user_id }) => user_id === saved_by);
    if (!member || !isLive(member, now) || !member.rights.includes("settings")) return "access_ended";
    if (closedTo(member.rights, events as EventType[]).length > 0) return "access_ended";
  }
  return isRemoved ? "event_removed" : "stands";
}
