// Who plays where, over all proxies: what each proxy reports, and what others read.
// Vocabulary: session = one connection of a player to a proxy; proxy = one process that players connect to.

import { z } from "zod";
import { event, nothing, operation, request } from "../contract.ts";
import { PlayerUuid, Timestamp } from "../text.ts";
import { ServerNameParam } from "./names.ts";

const internal = { face: "internal", tier: "service", callers: ["velocity"] } as const;
const spec = "docs/velocity.md#calls";

/** A proxy's own name and a part that is new with every start. */
export const ProxyId = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,80}$/, "must be 1 to 80 letters, digits, dots and dashes");

/** A player's name as the game knows it; other sources may allow more than Mojang does. */
export const GameName = z
  .string()
  .regex(/^\w{1,16}$/, "must be a player name: 1 to 16 letters, digits and _");

/** Players of one report; a proxy has room for fewer connections. */
export const maxPlayersReported = 5_000;

const Reported = z.strictObject({
  mc_uuid: PlayerUuid,
  name: GameName,
  /** Tells two connections of one player apart. */
  session: z.string().regex(/^[0-9a-f]{8,32}$/),
  /** The server the player is on, system servers too; left out on the way to one. */
  server: z.string().max(63).optional(),
});

/** An invitation to a player of the reporting proxy; it is delivered once. */
export const Invitation = z.strictObject({
  id: z.string(),
  from_uuid: z.string(),
  from_name: z.string(),
  to_uuid: z.string(),
  server: z.string(),
});
export type Invitation = z.output<typeof Invitation>;

export const reportPlayers = operation({
  subject: "lifecycle.player.report",
  http: { method: "POST", path: "/api/v1/internal/proxies/{proxy}/players", ...internal },
  params: { proxy: ProxyId },
  body: { players: z.array(Reported).max(maxPlayersReported) },
  output: z.strictObject({
    /** Sessions of this proxy whose player has connected to another proxy since: they end. */
    elsewhere: z.array(z.string()),
    invitations: z.array(Invitation),
  }),
  summary:
    "Every player of one proxy, reported every few seconds; a proxy that stops reporting counts as gone.",
  spec,
});

/** A player and where they are. */
export const OnlinePlayer = z.strictObject({
  mc_uuid: z.string(),
  name: z.string(),
  server: z.string().optional(),
  proxy: z.string(),
  since: Timestamp,
});
export type OnlinePlayer = z.output<typeof OnlinePlayer>;
const Online = z.strictObject({ players: z.array(OnlinePlayer) });

export const listForProxy = operation({
  subject: "lifecycle.player.list-for-proxy",
  http: { method: "GET", path: "/api/v1/internal/players", ...internal },
  output: Online,
  summary: "Who plays where over all proxies, by name.",
  spec,
});

export const list = operation({
  subject: "lifecycle.player.list",
  http: { method: "GET", path: "/api/v1/players", face: "external", tier: "admin" },
  output: Online,
  summary: "Who plays where over all proxies, by name; for staff.",
  spec,
});

export const invite = operation({
  subject: "lifecycle.player.invite",
  http: { method: "POST", path: "/api/v1/internal/players/{mc_uuid}/invitations", ...internal, status: 201 },
  params: { mc_uuid: PlayerUuid },
  body: {
    id: z.string().regex(/^[0-9a-f]{8,32}$/),
    from_uuid: PlayerUuid,
    from_name: GameName,
    server: ServerNameParam,
  },
  output: z.strictObject({ id: z.string() }),
  faults: ["bad_name", "not_found"],
  summary: "Stores an invitation for a player of another proxy, which receives it with its next report.",
  spec,
});

export const reportLeave = operation({
  subject: "lifecycle.server.report-leave",
  http: {
    method: "POST",
    path: "/api/v1/internal/servers/{name}/leave-event",
    ...internal,
    status: 204,
  },
  params: { name: ServerNameParam },
  body: { mc_uuid: PlayerUuid, player_name: GameName.optional(), reason: z.string().max(64).optional() },
  output: nothing,
  faults: ["bad_name", "not_found"],
  onceById: true,
  summary: "A player left a server: for another one, or for good.",
  spec,
});

export const findByName = request({
  subject: "lifecycle.player.find",
  /** Part of the name that a player had at the last join; case does not count. */
  input: { text: GameName },
  /** At most 500, those who joined last. */
  output: z.strictObject({ mc_uuids: z.array(z.string()) }),
  callers: ["identity"],
  idempotent: true,
  deadlineMs: 3_000,
  summary: "The players whose names contain a text.",
  spec: "docs/reference/accounts.md#users",
});

export const readName = request({
  subject: "lifecycle.player.read-name",
  input: { mc_uuid: PlayerUuid },
  /** Of the connection that lasts, or of the last join; left out for a player whom nobody has seen. */
  output: z.strictObject({ name: z.string().optional() }),
  callers: ["identity"],
  idempotent: true,
  deadlineMs: 3_000,
  summary: "What a player is called in the game.",
  spec: "docs/reference/links.md#redeem",
});

const sample = {
  name: "survival",
  mc_uuid: "069a79f4-44e9-4726-a5be-fca90e38aaf5",
  player_name: "Notch",
  at: "2026-01-01T00:00:00.000Z",
};

export const playerJoined = event({
  subject: "lifecycle.server.player-joined",
  data: z.object({
    name: z.string(),
    mc_uuid: z.string(),
    player_name: z.string().optional(),
    at: z.iso.datetime(),
  }),
  key: (data) => data.name,
  sample,
  summary: "The proxy reported that a player joined a server.",
});

export const playerLeft = event({
  subject: "lifecycle.server.player-left",
  data: z.object({
    name: z.string(),
    mc_uuid: z.string(),
    player_name: z.string().optional(),
    reason: z.string().optional(),
    at: z.iso.datetime(),
  }),
  key: (data) => data.name,
  sample: { ...sample, reason: "switched" },
  summary: "The proxy reported that a player left a server.",
});
