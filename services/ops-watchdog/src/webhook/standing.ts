// Whether a webhook of a server still stands (docs/reference/webhooks.md#end). Pure.

import { isLive, type MemberFacts } from "@svc/proto";

type Standing =
  | "stands"
  /** The server has another owner, none, or is gone: the webhook goes too. */
  | "owner_gone"
  /** Who saved it last may not any more: it is switched off. */
  | "access_ended";

type Saved = { owner_id: string | null; saved_by: string };
type Sharing = { owner_id?: string | undefined; members: readonly MemberFacts[] };

/** `sharing` is undefined when there is no such server; `now` is in Unix milliseconds. */
export function decideStanding(
  { owner_id, saved_by }: Saved,
  sharing: Sharing | undefined,
  now: number,
): Standing {
  if (owner_id === null) return "stands";
  if (!sharing || sharing.owner_id !== owner_id) return "owner_gone";
  if (saved_by === owner_id) return "stands";
  const member = sharing.members.find(({ user_id }) => user_id === saved_by);
  const mayStill = member !== undefined && isLive(member, now) && member.rights.includes("settings");
  return mayStill ? "stands" : "access_ended";
}
