// Players and accounts: bind codes, links, the blacklist and re-claims (docs/reference/links.md#bind-code, docs/reference/links.md#redeem).
// Vocabulary: link = a player's UUID belongs to an account; bind code = eight characters that prove a player;
// bar = a UUID may no longer join; hold = data of a barred player kept for thirty days.

import { z } from "zod";
import { event, nothing, operation, request } from "../contract.ts";
import { PlayerUuid, Timestamp } from "../text.ts";

/** The kind of session server that confirmed a player. */
export const AuthSource = z.enum(["mojang", "thirdparty"]);
export type AuthSource = z.output<typeof AuthSource>;

/** A bind code as it is typed; case and spaces at its ends do not count. */
export const TypedBindCode = z.string().trim().min(1).max(32);

/** A player name: ASCII, so that no two names look alike. */
export const PlayerName = z
  .string()
  .regex(/^[A-Za-z0-9_]{1,16}$/, "must be a player name: 1 to 16 of A-Z, a-z, 0-9 and _");

const gate = { face: "internal", tier: "service", callers: ["velocity", "limbo"] } as const;
const player = { mc_uuid: PlayerUuid };
const Linked = { linked: z.literal(true), mc_uuid: z.string(), auth_source: AuthSource };

export const mintCode = operation({
  subject: "identity.link.mint-code",
  http: { method: "POST", path: "/api/v1/internal/account/link/code", ...gate, status: 201 },
  body: {
    ...player,
    /** Left out, it is derived from the UUID: version 3 is a third party's. */
    auth_source: AuthSource.optional(),
  },
  output: z.strictObject({ code: z.string(), expires_at: Timestamp, panel_url: z.string().optional() }),
  onceById: true,
  summary: "A bind code for a player whose identity the caller has verified.",
  spec: "docs/reference/links.md#bind-code",
});

export const linkStatus = operation({
  subject: "identity.link.status",
  http: { method: "GET", path: "/api/v1/internal/account/link/status/{mc_uuid}", ...gate },
  params: player,
  output: z.strictObject({ linked: z.boolean() }),
  summary: "Whether a player is linked to an account; safe to poll.",
  spec: "docs/reference/links.md#bind-code",
});

/** Players asked about in one `linkStatuses`. */
export const maxPlayersAsked = 500;

export const linkStatuses = operation({
  subject: "identity.link.statuses",
  http: {
    method: "POST",
    path: "/api/v1/internal/account/link/statuses",
    face: "internal",
    tier: "service",
    callers: ["limbo"],
  },
  body: { mc_uuids: z.array(PlayerUuid).max(maxPlayersAsked) },
  /** Those of the players asked about who are linked, in canonical spelling. */
  output: z.strictObject({ linked: z.array(z.string()) }),
  idempotent: true,
  summary: "Which of these players are linked to an account; safe to poll.",
  spec: "docs/reference/login-gate.md#states",
});

/** Why a player may not be in the game; absent for a player who may. */
export const BadStanding = z.enum(["barred", "account_disabled", "account_deleted", "not_linked"]);
export type BadStanding = z.output<typeof BadStanding>;

export const readStandings = operation({
  subject: "identity.player.read-standings",
  http: {
    method: "POST",
    path: "/api/v1/internal/player/standings",
    face: "internal",
    tier: "service",
    callers: ["velocity"],
  },
  body: { mc_uuids: z.array(PlayerUuid).max(maxPlayersAsked) },
  /** Only those who may not be in the game, by UUID in canonical spelling. */
  output: z.strictObject({ standings: z.record(z.string(), BadStanding) }),
  idempotent: true,
  summary: "Which of these players may not be in the game, and why; a proxy asks every few seconds.",
  spec: "docs/velocity.md#calls",
});

export const bind = operation({
  subject: "identity.link.bind",
  http: {
    method: "POST",
    path: "/api/v1/auth/bind",
    face: "external",
    tier: "public",
    rateLimited: true,
    session: "mints",
  },
  body: { code: TypedBindCode },
  output: z.strictObject({ user_id: z.string(), ...Linked }),
  faults: ["invalid_code", "staff_account", "account_retired"],
  onceById: true,
  summary: "Signs a linked player in with a bind code, or makes an account for one who has none.",
  spec: "docs/reference/links.md#redeem",
});

export const startLink = operation({
  subject: "identity.link.start",
  http: { method: "POST", path: "/api/v1/account/link/start", face: "external", tier: "app", setup: true },
  output: z.strictObject({ linked: z.boolean(), instructions: z.string() }),
  idempotent: true,
  summary: "Whether the caller is linked to a player, and how to link one.",
  spec: "docs/reference/links.md#redeem",
});

export const verifyLink = operation({
  subject: "identity.link.verify",
  http: { method: "POST", path: "/api/v1/account/link/verify", face: "external", tier: "app", setup: true },
  body: { code: TypedBindCode },
  output: z.strictObject(Linked),
  faults: ["invalid_code", "already_linked", "reauth_required", "rate_limited"],
  onceById: true,
  summary: "Links the player of a bind code to the caller.",
  spec: "docs/reference/links.md#redeem",
});

/** A player of an account. */
export const LinkedAccount = z.strictObject({
  mc_uuid: z.string(),
  auth_source: z.string(),
  verified_at: Timestamp,
});

export const listOwn = operation({
  subject: "identity.link.list-own",
  http: { method: "GET", path: "/api/v1/account/links", face: "external", tier: "app" },
  output: z.strictObject({ links: z.array(LinkedAccount) }),
  summary: "The players that are linked to the caller, in the order in which they were linked.",
  spec: "docs/reference/links.md#own",
});

export const removeOwn = operation({
  subject: "identity.link.remove-own",
  http: {
    method: "DELETE",
    path: "/api/v1/account/links/{mc_uuid}",
    face: "external",
    tier: "app",
    status: 204,
  },
  params: player,
  output: nothing,
  faults: ["not_found", "reauth_required", "last_link"],
  onceById: true,
  summary: "Unlinks a player from the caller and ends the caller's other sessions.",
  spec: "docs/reference/links.md#own",
});

export const reclaimName = operation({
  subject: "identity.player.reclaim",
  http: {
    method: "POST",
    path: "/api/v1/internal/player/reclaim",
    face: "internal",
    tier: "service",
    callers: ["velocity"],
  },
  body: {
    squatter_uuid: PlayerUuid,
    username: PlayerName,
    /** Where the caller stores the player's data; opaque, never returned. */
    data_ref: z.string().max(512).optional(),
  },
  output: z.strictObject({ blacklisted: z.literal(true), username: z.string(), hold_expires_at: Timestamp }),
  faults: ["protected_admin"],
  idempotent: true,
  summary: "Bars a UUID, never a name, and holds its data for 30 days.",
  spec: "docs/reference/links.md#bar",
});

export const readBlacklist = operation({
  subject: "identity.player.read-blacklist",
  http: { method: "GET", path: "/api/v1/internal/player/blacklist/{mc_uuid}", ...gate },
  params: player,
  output: z.strictObject({ blacklisted: z.boolean() }),
  summary: "Whether a UUID is barred.",
  spec: "docs/reference/links.md#bar",
});

export const namePlayers = request({
  subject: "identity.link.name-players",
  input: { mc_uuids: z.array(PlayerUuid).max(500) },
  output: z.strictObject({ names: z.record(z.string(), z.string()) }),
  callers: ["lifecycle"],
  idempotent: true,
  deadlineMs: 3_000,
  summary: "User names of the live accounts that players are linked to, by UUID.",
  spec: "docs/reference/claims.md#allowlist",
});

export const playerBarred = event({
  subject: "identity.player.barred",
  data: z.object({ mc_uuid: z.string(), username: z.string(), at: z.iso.datetime() }),
  key: (data) => data.mc_uuid,
  sample: {
    mc_uuid: "11111111-1111-4111-8111-111111111111",
    username: "Ada",
    at: "2026-01-01T00:00:00.000Z",
  },
  listeners: ["gateway-internal", "lifecycle"],
  summary: "A player was barred; one who is online is disconnected.",
});
