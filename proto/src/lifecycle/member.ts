// Shared access to a server: members and the invitations that make them (docs/reference/shared-access.md#operations).
// Vocabulary: member = an account that the owner of a server shares it with; grant = rights, their limits and their end;
// invitation = an offer of a grant; inviter = who made it; secret = the text in the link of an invitation, shown once.

import { z } from "zod";
import { AccessLimits, Grant, GrantedRights, MemberFacts } from "../access/grant.ts";
import { event, nothing, operation, request } from "../contract.ts";
import { MemberRight } from "../right.ts";
import { EmailAddress, Timestamp } from "../text.ts";
import { ServerNameParam } from "./names.ts";

const name = { name: ServerNameParam };
const external = { face: "external", tier: "app" } as const;
const spec = "docs/reference/shared-access.md#operations";
const id = z.string().min(1).max(64);

/** Days that an invitation may be open. */
const longestInvitationDays = 30;
const defaultInvitationDays = 7;

/** Whom an invitation is for: whoever has the link, who has verified an address, or who is linked to a player. */
const InvitationKind = z.enum(["link", "mail", "player"]);

/** One member as the owner and members with `invite` see it. */
export const Member = z.strictObject({
  /** Of the membership; a new invitation makes another one. */
  id: z.string(),
  /** Absent while accounts cannot be read, and of an account that is disabled. */
  username: z.string().optional(),
  ...Grant.shape,
  joined_at: Timestamp,
  /** User name of who invited it, by then; absent when nobody remembers. */
  invited_by: z.string().optional(),
  /** True for the caller's own membership. */
  is_me: z.boolean(),
  /** Whether the caller may change and remove it. */
  may_change: z.boolean(),
});
export type Member = z.output<typeof Member>;

/** An invitation that is open, as the owner and members with `invite` see it. The secret is not in it. */
export const Invitation = z.strictObject({
  id: z.string(),
  kind: InvitationKind,
  /** The address or the player's name; absent for a link. */
  to: z.string().optional(),
  ...Grant.shape,
  invited_by: z.string(),
  created_at: Timestamp,
  expires_at: Timestamp,
  may_revoke: z.boolean(),
});
export type Invitation = z.output<typeof Invitation>;

/** An invitation as the invited person sees it. */
export const Offer = z.strictObject({
  id: z.string(),
  server: z.string(),
  invited_by: z.string(),
  ...Grant.shape,
  expires_at: Timestamp,
});
export type Offer = z.output<typeof Offer>;

/** What an account may do at one server. */
export const MyAccess = z.strictObject({
  server: z.string(),
  as: z.enum(["owner", "staff", "member"]),
  /** Owner and staff have all of them. */
  ...Grant.shape,
});
export type MyAccess = z.output<typeof MyAccess>;

export const list = operation({
  subject: "lifecycle.member.list",
  http: { method: "GET", path: "/api/v1/servers/{name}/members", ...external, memberRights: ["invite"] },
  params: name,
  output: z.strictObject({
    server: z.string(),
    members: z.array(Member),
    invitations: z.array(Invitation),
    /** How many of each a server may have. */
    limits: z.strictObject({ members: z.int(), invitations: z.int() }),
  }),
  faults: ["bad_name", "not_found"],
  summary: "Who a server is shared with, and the invitations that are open.",
  spec,
});

export const invite = operation({
  subject: "lifecycle.member.invite",
  http: {
    method: "POST",
    path: "/api/v1/servers/{name}/invitations",
    ...external,
    status: 201,
    holdsSecrets: true,
    memberRights: ["invite"],
  },
  params: name,
  body: {
    /** Absent, with `player` absent too: whoever has the link, once. */
    email: EmailAddress.optional(),
    /** Name of a player who has joined this installation. */
    player: z
      .string()
      .regex(/^\w{1,16}$/, "must be a player's name: 1 to 16 of A-Z, a-z, 0-9 and _")
      .optional(),
    rights: GrantedRights,
    limits: AccessLimits.optional(),
    ends_at: Timestamp.optional(),
    expires_in_days: z.int().min(1).max(longestInvitationDays).default(defaultInvitationDays),
  },
  output: z.strictObject({
    invitation: Invitation,
    /** Only of a link, and only in this answer; the panel takes it at `/invitations#<secret>`. */
    secret: z.string().optional(),
    /** Only of an address; false: the mail could not be sent, tell the person by other means. */
    mailed: z.boolean().optional(),
  }),
  faults: [
    "bad_name",
    "not_found",
    "access_beyond_own",
    "member_limit",
    "invitation_limit",
    "player_unknown",
    "invitation_rate_limited",
  ],
  deadlineMs: 30_000,
  summary: "Offers access to a server; the answer is the only one that has the secret of a link.",
  spec: "docs/reference/shared-access.md#invitations",
});

export const revoke = operation({
  subject: "lifecycle.member.revoke",
  http: {
    method: "DELETE",
    path: "/api/v1/servers/{name}/invitations/{id}",
    ...external,
    status: 204,
    memberRights: ["invite"],
  },
  params: { ...name, id },
  output: nothing,
  faults: ["bad_name", "not_found", "invitation_not_found", "access_beyond_own"],
  onceById: true,
  summary: "Takes an open invitation back.",
  spec: "docs/reference/shared-access.md#invitations",
});

export const change = operation({
  subject: "lifecycle.member.change",
  http: {
    method: "PUT",
    path: "/api/v1/servers/{name}/members/{id}",
    ...external,
    memberRights: ["invite"],
  },
  params: { ...name, id },
  /** All of it is replaced: limits and an end that are absent are taken away. */
  body: { rights: GrantedRights, limits: AccessLimits.optional(), ends_at: Timestamp.optional() },
  output: Member,
  faults: ["bad_name", "not_found", "member_not_found", "access_beyond_own"],
  onceById: true,
  summary: "Replaces rights, limits and end of a member.",
  spec,
});

export const remove = operation({
  subject: "lifecycle.member.remove",
  http: {
    method: "DELETE",
    path: "/api/v1/servers/{name}/members/{id}",
    ...external,
    status: 204,
    memberRights: ["invite"],
  },
  params: { ...name, id },
  output: nothing,
  faults: ["bad_name", "not_found", "member_not_found", "access_beyond_own"],
  onceById: true,
  summary: "Ends somebody's access; their streams and transfers end at once.",
  spec: "docs/reference/shared-access.md#end",
});

export const readMine = operation({
  subject: "lifecycle.member.read-mine",
  http: { method: "GET", path: "/api/v1/me/servers/{name}/access", ...external, rights: ["see"] },
  params: name,
  output: MyAccess,
  faults: ["bad_name", "not_found"],
  summary: "What the caller may do at a server; with an API token, what the token may.",
  spec,
});

export const leave = operation({
  subject: "lifecycle.member.leave",
  http: {
    method: "DELETE",
    path: "/api/v1/me/servers/{name}/access",
    ...external,
    status: 204,
    memberRights: ["see"],
  },
  params: name,
  output: nothing,
  faults: ["bad_name", "not_found", "member_not_found"],
  onceById: true,
  summary: "Ends the caller's own access to a server of somebody else.",
  spec: "docs/reference/shared-access.md#end",
});

export const listOffers = operation({
  subject: "lifecycle.member.list-offers",
  http: { method: "GET", path: "/api/v1/me/invitations", ...external },
  output: z.strictObject({ invitations: z.array(Offer) }),
  summary: "Open invitations to the caller's verified address and linked players.",
  spec: "docs/reference/shared-access.md#invitations",
});

/** One of an invitation that is addressed to the caller, and one that the caller has the link of. */
const which = {
  id: id.optional(),
  /** Of a link: `svc_inv_` and 43 characters. */
  secret: z.string().min(1).max(128).optional(),
};
const invitationFaults = ["invitation_not_found", "invitation_over", "invitation_rate_limited"] as const;

export const look = operation({
  subject: "lifecycle.member.look",
  http: { method: "POST", path: "/api/v1/me/invitations/look", ...external },
  body: which,
  output: Offer,
  faults: invitationFaults,
  idempotent: true,
  summary: "What an invitation offers, by its id or the secret of its link.",
  spec: "docs/reference/shared-access.md#invitations",
});

export const accept = operation({
  subject: "lifecycle.member.accept",
  http: { method: "POST", path: "/api/v1/me/invitations/accept", ...external },
  body: which,
  output: MyAccess,
  faults: [...invitationFaults, "already_member", "member_limit"],
  idempotent: true,
  summary: "Accepts an invitation, once; a repeat by the same account answers the same.",
  spec: "docs/reference/shared-access.md#accept",
});

export const decline = operation({
  subject: "lifecycle.member.decline",
  http: { method: "POST", path: "/api/v1/me/invitations/decline", ...external, status: 204 },
  body: which,
  output: nothing,
  faults: invitationFaults,
  idempotent: true,
  summary: "Declines an invitation; nobody can accept it any more.",
  spec: "docs/reference/shared-access.md#invitations",
});

/** One server that is shared with an account, for those who keep what belongs to servers. */
const SharedWith = z.strictObject({
  server: z.string(),
  owner_id: z.string(),
  rights: z.array(MemberRight),
  ends_at: Timestamp.optional(),
});

export const listSharedWith = request({
  subject: "lifecycle.member.list-shared-with",
  input: { user_id: id },
  output: z.strictObject({ servers: z.array(SharedWith) }),
  callers: ["storage"],
  idempotent: true,
  deadlineMs: 3_000,
  summary: "Servers that are shared with an account, and whose they are.",
  spec: "docs/reference/shared-access.md#decision",
});

export const readSharing = request({
  subject: "lifecycle.member.read-sharing",
  input: name,
  output: z.strictObject({
    owner_id: z.string().optional(),
    members: z.array(MemberFacts),
  }),
  faults: ["not_found"],
  callers: ["ops-watchdog"],
  idempotent: true,
  deadlineMs: 3_000,
  maxInFlight: 64,
  summary: "Whose a server is and whom it is shared with, from the database alone.",
  spec: "docs/reference/shared-access.md#decision",
});

export const accessChanged = event({
  subject: "lifecycle.member.changed",
  data: z.object({ name: z.string(), at: z.iso.datetime() }),
  key: (data) => data.name,
  sample: { name: "survival", at: "2026-01-01T00:00:00.000Z" },
  listeners: ["gateway-external", "storage"],
  summary: "Who a server is shared with changed; what somebody may no longer see ends.",
});
