// Invitations as they are stored, and whom they are for (docs/reference/shared-access.md#invitations).

import { hash, randomBytes } from "node:crypto";
import { AccessLimits, type Grant, GrantedRights, type members } from "@svc/proto";
import { z } from "zod";
import type { Accounts } from "./deps.ts";
import { type Actor, mayTakeBack } from "./policy.ts";
import type { InvitationRow } from "./store.ts";

const prefix = "svc_inv_";

export function mintSecret(): string {
  return `${prefix}${randomBytes(32).toString("base64url")}`;
}

/** What is stored of a secret; undefined for a text that is none. */
export function hashOfSecret(text: string): string | undefined {
  return /^svc_inv_[A-Za-z0-9_-]{43}$/.test(text) ? hash("sha256", text) : undefined;
}

/** Addresses are the same when they differ in the case of ASCII letters alone; nothing else is folded. */
export function comparedAddress(email: string): string {
  return email.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Strict: an offer of a newer build with limits that this one does not know is none. */
const Offered = z.strictObject({
  rights: GrantedRights,
  limits: AccessLimits.optional(),
  ends_at: z.iso.datetime({ offset: true }).optional(),
});

export function grantOf({ offered }: Pick<InvitationRow, "offered">): Grant | undefined {
  const { data } = Offered.safeParse(offered);
  return data && toGrant(data);
}

/** Without members that are undefined, so that it can be stored and compared. */
export function toGrant({ rights, limits, ends_at }: Grant): Grant {
  return { rights, ...(limits && { limits }), ...(ends_at !== undefined && { ends_at }) };
}

/** Whether an invitation is for an account. That of a link is for whoever has the secret, which the caller has shown. */
export function isFor(row: InvitationRow, account: Accounts[string], hasSecret: boolean): boolean {
  if (row.kind === "link") return hasSecret;
  if (row.kind === "mail")
    return row.email !== null && account.email !== undefined && comparedAddress(account.email) === row.email;
  return row.mc_uuid !== null && account.mc_uuids.includes(row.mc_uuid);
}

export function isOpen({ ended_at, expires_at }: InvitationRow, now: number): boolean {
  return ended_at === null && expires_at.getTime() > now;
}

export function toView(row: InvitationRow, actor: Actor): members.Invitation[] {
  const grant = grantOf(row);
  if (!grant) return [];
  const to = row.email ?? row.player_name;
  const { id, kind, inviter_name: invited_by } = row;
  return [
    {
      ...{ id, kind, invited_by },
      ...(to !== null && { to }),
      ...grant,
      created_at: row.created_at.toISOString(),
      expires_at: row.expires_at.toISOString(),
      may_revoke: mayTakeBack(actor, grant),
    },
  ];
}

export function toOffer(row: InvitationRow, grant: Grant): members.Offer {
  const { id, server_name: server, inviter_name: invited_by } = row;
  return { id, server, invited_by, ...grant, expires_at: row.expires_at.toISOString() };
}
