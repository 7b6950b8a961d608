// Players whom servers know from their visits: how long and when they played, notes about them, and one ban for several
// servers (docs/reference/players.md).
// Vocabulary: visit = one stay of a player on one server, from arriving to leaving; known player = a player of whom a server
// has visits; note = what an owner writes down about a known player.

import { z } from "zod";
import { nothing, operation, request } from "../contract.ts";
import { PlayerData, seen } from "../identity/player-data.ts";
import { PlayerUuid, Timestamp, wholeNumber } from "../text.ts";
import { PlayerName } from "./console.ts";
import { ServerNameParam } from "./names.ts";
import { GameName, ProxyId } from "./player.ts";

/** Visits of one report; a proxy sends the others with the next one. */
export const maxVisitsReported = 2_000;
/** Proxies forget visits that ended so long ago without an answer to their report, in milliseconds. */
export const oldestEndMs = 24 * 60 * 60_000;
/** Characters of a note. */
export const longestNote = 500;
/** Servers that one change of bans or whitelists may name. */
export const mostServers = 50;

const count = z.int().min(0);
const Milliseconds = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

const Visit = z.strictObject({
  mc_uuid: PlayerUuid,
  name: GameName,
  server: ServerNameParam,
  /** Counts the visits of this proxy, so that a later one has a higher number. */
  number: z.int().min(1),
  /** How long it has lasted, by the clock of the proxy that does not jump. */
  ms: Milliseconds,
  /** How long ago it ended; left out while it lasts. */
  ended_ms: Milliseconds.optional(),
});
export type Visit = z.output<typeof Visit>;

const spec = "docs/reference/players.md";

export const reportVisits = operation({
  subject: "lifecycle.visit.report",
  http: {
    ...{ method: "POST", path: "/api/v1/internal/proxies/{proxy}/visits", status: 204 },
    ...{ face: "internal", tier: "service", callers: ["velocity"] },
  },
  params: { proxy: ProxyId },
  body: { visits: z.array(Visit).max(maxVisitsReported) },
  output: nothing,
  idempotent: true,
  summary:
    "The visits to servers that last, and those that ended since an answer; a repeat counts nothing twice.",
  spec: `${spec}#visits`,
});

/** A player over all servers that the caller may see. */
export const KnownPlayer = z.strictObject({
  mc_uuid: z.string(),
  /** At the last visit. */
  name: z.string(),
  /** How many of these servers know the player. */
  servers: count,
  ...seen,
});
export type KnownPlayer = z.output<typeof KnownPlayer>;

export const Sort = z.enum(["last_seen", "played", "name"]);
export type Sort = z.output<typeof Sort>;

const external = { face: "external", tier: "app", rights: ["players"] } as const;
const byOwner = { ...external, serversBy: "owner" } as const;
const onePlayer = { mc_uuid: PlayerUuid };

export const list = operation({
  subject: "lifecycle.known-player.list",
  http: { method: "GET", path: "/api/v1/players/known", ...byOwner },
  query: {
    /** Only of this server; else of all servers whose players the caller may see. */
    server: ServerNameParam.optional(),
    /** Part of a name; case does not count. */
    text: z.string().trim().max(16).optional(),
    sort: Sort.default("last_seen"),
    limit: wholeNumber(1, 100).default(20),
    offset: wholeNumber(0, 1_000_000).default(0),
  },
  output: z.strictObject({ players: z.array(KnownPlayer), total: count }),
  faults: ["bad_name", "not_found"],
  maxInFlight: 16,
  summary: "Players who were on the servers whose players the caller may see.",
  spec: `${spec}#list`,
});

export const Note = z.strictObject({
  id: z.string(),
  server: z.string(),
  text: z.string(),
  /** User name of who wrote it. */
  author: z.string(),
  at: Timestamp,
});
export type Note = z.output<typeof Note>;

export const PlayerAt = z.strictObject({
  server: z.string(),
  name: z.string(),
  ...seen,
  /** Whether the player is there now. */
  online: z.boolean(),
});
export type PlayerAt = z.output<typeof PlayerAt>;

export const read = operation({
  subject: "lifecycle.known-player.read",
  http: { method: "GET", path: "/api/v1/players/{mc_uuid}", ...byOwner },
  params: onePlayer,
  output: z.strictObject({
    mc_uuid: z.string(),
    name: z.string(),
    /** The server of the last visit first. */
    servers: z.array(PlayerAt),
    /** The newest first. */
    notes: z.array(Note),
  }),
  faults: ["known_player_not_found"],
  maxInFlight: 32,
  summary:
    "Where a player was, how long and when, on the servers whose players the caller may see, with notes.",
  spec: `${spec}#player`,
});

/** What one server answered: either what it printed, or why nothing was changed or read there. */
const refusal = { error: z.strictObject({ code: z.string(), message: z.string() }).optional() };

/** Covers the commands of all servers, of which eight are asked at once. */
const deadlineMs = 60_000;
const servers = z
  .array(ServerNameParam)
  .min(1)
  .max(mostServers)
  .transform((names) => [...new Set(names)]);

export const readAccess = operation({
  subject: "lifecycle.known-player.read-access",
  http: { method: "GET", path: "/api/v1/players/{mc_uuid}/access", ...byOwner },
  params: onePlayer,
  output: z.strictObject({
    player: PlayerName,
    servers: z.array(
      z.strictObject({
        server: z.string(),
        /** As far as the server's reply could be parsed; absent where there is an error. */
        banned: z.boolean().optional(),
        whitelisted: z.boolean().optional(),
        ...refusal,
      }),
    ),
  }),
  faults: ["known_player_not_found"],
  maxInFlight: 16,
  deadlineMs,
  summary:
    "Whether the running servers whose players the caller may see ban a player or have the player on the whitelist.",
  spec: `${spec}#access`,
});

export const AccessAction = z.enum(["ban", "pardon", "whitelist-add", "whitelist-remove"]);
export type AccessAction = z.output<typeof AccessAction>;

export const changeAccess = operation({
  subject: "lifecycle.known-player.change-access",
  http: { method: "POST", path: "/api/v1/players/{mc_uuid}/access", ...byOwner },
  params: onePlayer,
  body: { action: AccessAction, servers },
  output: z.strictObject({
    player: PlayerName,
    action: AccessAction,
    /** One for each server that was named, in that order. */
    results: z.array(z.strictObject({ server: z.string(), output: z.string().optional(), ...refusal })),
  }),
  faults: ["known_player_not_found"],
  maxInFlight: 16,
  deadlineMs,
  summary:
    "Bans or pardons a player, or changes the whitelist, on several servers; each of them answers for itself.",
  spec: `${spec}#access`,
});

// No control characters but line ends, and none that hide or turn what stands around them.
const hidden = /[^\P{Cc}\n]|[\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u;
const NoteText = z
  .string()
  .trim()
  .min(1)
  .max(longestNote)
  .refine((text) => !hidden.test(text), "must have no control or formatting characters");

const ofPlayer = { name: ServerNameParam, ...onePlayer };

export const addNote = operation({
  subject: "lifecycle.known-player.add-note",
  http: {
    ...external,
    ...{ method: "POST", path: "/api/v1/servers/{name}/players/{mc_uuid}/notes", status: 201 },
  },
  params: ofPlayer,
  body: { text: NoteText },
  output: Note,
  faults: ["bad_name", "not_found", "known_player_not_found", "note_limit"],
  onceById: true,
  summary: "Writes a note about a player whom the server knows; the player can read it, without its author.",
  spec: `${spec}#notes`,
});

export const removeNote = operation({
  subject: "lifecycle.known-player.remove-note",
  http: {
    ...external,
    ...{ method: "DELETE", path: "/api/v1/servers/{name}/players/{mc_uuid}/notes/{id}", status: 204 },
  },
  params: { ...ofPlayer, id: z.string().min(1).max(64) },
  output: nothing,
  faults: ["bad_name", "not_found", "note_not_found"],
  onceById: true,
  summary: "Deletes a note about a player.",
  spec: `${spec}#notes`,
});

export const readData = request({
  subject: "lifecycle.known-player.read-data",
  input: onePlayer,
  output: PlayerData,
  callers: ["identity"],
  idempotent: true,
  summary: "What is kept about a player, for the player.",
  spec: `${spec}#own`,
});

export const eraseData = request({
  subject: "lifecycle.known-player.erase-data",
  input: onePlayer,
  output: z.strictObject({ servers: count, notes: count }),
  callers: ["identity"],
  onceById: true,
  summary: "Erases what is kept about a player who asked for it, for good.",
  spec: `${spec}#erase`,
});
