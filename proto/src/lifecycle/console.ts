// Console and access over RCON (docs/reference/console.md#stream).
// Vocabulary: line = one line of the server's log; command = one line sent over RCON; access = whitelist, bans, kicks
// and LuckPerms, each a command whose words are checked.

import { z } from "zod";
import { nothing, operation } from "../contract.ts";
import { accessChanged } from "./member.ts";
import { ServerNameParam } from "./names.ts";
import { serverClaimed, serverTransferred } from "./ownership.ts";
import { serverReleased } from "./reclaim.ts";

const name = { name: ServerNameParam };
const words = (pattern: RegExp, message: string) => z.string().regex(pattern, message);

/** A player's name as the game allows it; an installation's own prefixes of names fit it too. */
export const PlayerName = words(
  /^[A-Za-z0-9_]{1,16}$/,
  "must be a player's name: 1 to 16 of A-Z, a-z, 0-9 and _",
);
/** A permission of LuckPerms, wildcards and shorthand ranges without spaces included. */
const PermissionNode = words(
  /^[A-Za-z0-9_*][A-Za-z0-9_.*:-]{0,199}$/,
  "must be a permission such as essentials.fly: at most 200 of letters, digits and _ . * : -",
);
/** A group of LuckPerms, which allows 36 characters. */
const GroupName = words(
  /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,35}$/,
  "must be a group's name: at most 36 of letters, digits and _ . -",
);
/** A world's folder name or its namespaced key. */
const WorldName = words(
  /^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,63}$/,
  "must be a world's name: at most 64 of letters, digits and _ . : / -",
);

/** What a changed right answers: the raw RCON reply and what it was about (docs/reference/console.md#access). */
const AccessResult = z.strictObject({
  name: z.string(),
  action: z.string(),
  output: z.string(),
  player: z.string().optional(),
  node: z.string().optional(),
  group: z.string().optional(),
});

const faults = ["bad_name", "not_found", "not_running"] as const;
const luckPermsFaults = [...faults, "luckperms_missing"] as const;
const external = { face: "external", tier: "app" } as const;
const spec = "docs/reference/console.md#access";
/** Covers queueing, connecting and the reply; LuckPerms is asked for several pages. */
const deadlineMs = 15_000;

/**
 * The console as an event stream. The gateway counts the streams of an account by itself: 16 in each gateway process,
 * so an account that is spread over n gateways may have 16 n (docs/reference/console.md#stream).
 */
export const watch = operation({
  subject: "lifecycle.console.watch",
  http: {
    ...external,
    method: "GET",
    path: "/api/v1/servers/{name}/console",
    kind: "events",
    rights: ["console.read"],
    recheckAt: [accessChanged, serverClaimed, serverTransferred, serverReleased],
  },
  params: name,
  output: nothing,
  faults: [...faults, "too_many_streams"],
  // A thousand viewers reconnect at once after a restart of a gateway.
  maxInFlight: 2_048,
  summary:
    "The server's log, line by line: the last lines, or all since Last-Event-ID, then new ones as they are printed.",
  spec: "docs/reference/console.md#stream",
});

export const command = operation({
  subject: "lifecycle.console.command",
  http: { ...external, method: "POST", path: "/api/v1/servers/{name}/command", rights: ["command"] },
  params: name,
  /** One line of at most 1024 characters and 1446 bytes, with or without a leading slash. */
  body: { command: z.string().max(2_048) },
  output: z.strictObject({ name: z.string(), output: z.string() }),
  faults,
  deadlineMs,
  summary: "Runs one command and returns its output.",
  spec: "docs/reference/console.md#command",
});

export const listWhitelist = operation({
  subject: "lifecycle.access.list-whitelist",
  http: { ...external, method: "GET", path: "/api/v1/servers/{name}/access/whitelist", rights: ["players"] },
  params: name,
  output: z.strictObject({ name: z.string(), players: z.array(z.string()), output: z.string() }),
  faults,
  deadlineMs,
  summary: "Players on the whitelist, as far as the reply can be parsed.",
  spec,
});

export const changeWhitelist = operation({
  subject: "lifecycle.access.change-whitelist",
  http: { ...external, method: "POST", path: "/api/v1/servers/{name}/access/whitelist", rights: ["players"] },
  params: name,
  body: { action: z.enum(["add", "remove"]), player: PlayerName },
  output: AccessResult,
  faults,
  deadlineMs,
  summary: "Adds a player to the whitelist or removes one.",
  spec,
});

export const listPlayers = operation({
  subject: "lifecycle.access.list-players",
  http: { ...external, method: "GET", path: "/api/v1/servers/{name}/access/players", rights: ["players"] },
  params: name,
  output: z.strictObject({
    name: z.string(),
    online: z.number().int().min(0),
    max: z.number().int().min(0),
    players: z.array(z.string()),
    output: z.string(),
  }),
  faults,
  deadlineMs,
  summary: "Players online now; the last known count when the reply cannot be parsed.",
  spec,
});

export const listBans = operation({
  subject: "lifecycle.access.list-bans",
  http: { ...external, method: "GET", path: "/api/v1/servers/{name}/access/ban", rights: ["players"] },
  params: name,
  output: z.strictObject({ name: z.string(), players: z.array(z.string()), output: z.string() }),
  faults,
  deadlineMs,
  summary: "Banned players, as far as the reply can be parsed, without addresses.",
  spec,
});

export const changeBan = operation({
  subject: "lifecycle.access.change-ban",
  http: { ...external, method: "POST", path: "/api/v1/servers/{name}/access/ban", rights: ["players"] },
  params: name,
  body: { action: z.enum(["ban", "pardon"]), player: PlayerName },
  output: AccessResult,
  faults,
  deadlineMs,
  summary: "Bans or pardons a player.",
  spec,
});

export const kick = operation({
  subject: "lifecycle.access.kick",
  http: { ...external, method: "POST", path: "/api/v1/servers/{name}/access/kick", rights: ["players"] },
  params: name,
  body: { player: PlayerName },
  output: z.strictObject({ name: z.string(), player: z.string(), output: z.string() }),
  faults,
  deadlineMs,
  summary: "Kicks a player.",
  spec,
});

export const changePermission = operation({
  subject: "lifecycle.access.change-permission",
  http: {
    ...external,
    method: "POST",
    path: "/api/v1/servers/{name}/access/permission",
    rights: ["players", "command"],
  },
  params: name,
  body: {
    action: z.enum(["set", "unset"]),
    player: PlayerName,
    node: PermissionNode,
    /** Only with `set`; true when absent. */
    value: z.boolean().optional(),
    world: WorldName.optional(),
  },
  output: AccessResult,
  faults: luckPermsFaults,
  deadlineMs,
  summary: "Sets or unsets a permission of a player in LuckPerms.",
  spec,
});

export const changeGroup = operation({
  subject: "lifecycle.access.change-group",
  http: {
    ...external,
    method: "POST",
    path: "/api/v1/servers/{name}/access/group",
    rights: ["players", "command"],
  },
  params: name,
  body: { action: z.enum(["add", "remove"]), player: PlayerName, group: GroupName },
  output: AccessResult,
  faults: luckPermsFaults,
  deadlineMs,
  summary: "Adds a player to a group of LuckPerms or removes one.",
  spec,
});

export const readLuckPerms = operation({
  subject: "lifecycle.access.read-luckperms",
  http: {
    ...external,
    method: "GET",
    path: "/api/v1/servers/{name}/access/luckperms/{player}",
    rights: ["players"],
  },
  params: { ...name, player: PlayerName },
  output: z.strictObject({
    player: z.string(),
    groups: z.array(z.string()),
    permissions: z.array(
      z.strictObject({ node: z.string(), value: z.boolean(), world: z.string().optional() }),
    ),
    output: z.string(),
  }),
  faults: luckPermsFaults,
  deadlineMs,
  summary: "What LuckPerms has set for a player itself: `lp user <player> permission info`, up to 10 pages.",
  spec,
});
