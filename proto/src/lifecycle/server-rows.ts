// Who sees what of a server (docs/reference/claims.md#own, docs/reference/server-states.md#view). Gateways and lifecycle
// apply the same functions, so that an answer does not depend on who made it. Pure but for the clock: what was shared for
// a time ends by itself, also in a row that nobody writes again.

import { z } from "zod";
import { decideAccess } from "../access/decide.ts";
import type { MemberFacts } from "../access/grant.ts";
import type { Principal } from "../envelope.ts";
import { MemberRight, reaches } from "../right.ts";
import { Timestamp } from "../text.ts";
import { changeRights, type Listed, viewRows } from "../view.ts";
import { isUserName } from "./names.ts";
import {
  AutostartPolicy,
  DesiredState,
  FleetServer,
  Phase,
  PublicServerInfo,
  RetireState,
  ServerCondition,
  ServerInfo,
  StartEstimate,
} from "./server-info.ts";
import { ServerTag } from "./server-tag.ts";

const count = z.number().int().min(0).max(2_147_483_647);

/** What the database knows of a server, by its name. */
export const ServerOwnership = z.strictObject({
  name: z.string(),
  subdomain: z.string(),
  /** Account id. */
  ownerId: z.string().optional(),
  /** Whom the owner shares it with; limits decide nothing here and are left out. */
  members: z
    .array(
      z.strictObject({
        user_id: z.string(),
        rights: z.array(MemberRight),
        ends_at: Timestamp.optional(),
      }),
    )
    .optional(),
  /** Display identity of the owner; left out while it could not be looked up. */
  owner: z.string().optional(),
  ownerPlayer: z.string().optional(),
  /** Whether players may claim it (docs/reference/claims.md#claim); only a server whose object is there. */
  claimable: z.boolean(),
  /** A server of the platform. */
  system: z.boolean().optional(),
  retiring: RetireState.optional(),
});
export type ServerOwnership = z.output<typeof ServerOwnership>;

/**
 * One row of the caller's own list (docs/reference/claims.md#own): owned, claimable, or neither and shared with the caller.
 * The fields after `displayName` are not for those who could only claim it.
 */
export const MyServerView = z.strictObject({
  name: z.string(),
  subdomain: z.string(),
  owned: z.boolean(),
  claimable: z.boolean(),
  /** 0 while the cluster is unreachable. */
  playersOnline: count,
  playersMax: count,
  /** Absent, as is the display name, while the cluster is unreachable. */
  phase: Phase.optional(),
  displayName: z.string().optional(),
  desiredState: DesiredState.optional(),
  autostartPolicy: AutostartPolicy.optional(),
  playerCountUnknown: z.boolean().optional(),
  autoRestarts: count.optional(),
  startGaveUp: z.boolean().optional(),
  retiring: RetireState.optional(),
  startRequestedAt: Timestamp.optional(),
  startEstimate: StartEstimate.optional(),
  stopsAt: Timestamp.optional(),
  tags: z.array(ServerTag).optional(),
  conditions: z.array(ServerCondition).optional(),
});
export type MyServerView = z.output<typeof MyServerView>;

type Facts = {
  name: string;
  ownerId: string | undefined;
  members: readonly MemberFacts[];
  claimable: boolean;
};

function factsOf(ownership: ServerOwnership | undefined, info: ServerInfo | undefined): Facts {
  return {
    name: info?.name ?? ownership?.name ?? "",
    ownerId: ownership?.ownerId,
    members: ownership?.members ?? [],
    claimable: ownership?.claimable === true,
  };
}

/** What lets the caller see a server whole; undefined when nothing does. */
function standingOf(facts: Facts, principal: Principal, isClosedToStaff = false) {
  const asked = { rights: ["see"], takesTokens: true, isClosedToStaff, now: Date.now() } as const;
  const verdict = decideAccess(principal, facts, asked);
  return verdict.isAllowed ? verdict.as : undefined;
}

function couldClaim({ name, claimable }: Facts, principal: Principal): boolean {
  return principal.kind === "account" && claimable && reaches(principal, name);
}

/** The fleet: staff see every server. */
export const fleetRows = viewRows({
  factsOf: (info: ServerInfo, ownership: ServerOwnership | undefined) => factsOf(ownership, info),
  readerOf: (facts, principal) => (standingOf(facts, principal) === "owner" ? "owner" : "staff"),
  rowFor: (reader: "owner" | "staff", info: ServerInfo, ownership: ServerOwnership | undefined) => ({
    ...withRetirement(info, ownership),
    owned: reader === "owner",
    claimable: ownership?.claimable === true,
    ...(ownership?.owner !== undefined && { owner: ownership.owner }),
    ...(ownership?.ownerPlayer !== undefined && { ownerPlayer: ownership.ownerPlayer }),
    ...(ownership?.ownerId !== undefined && ownership.owner === undefined && { ownerUnknown: true }),
    ...(ownership?.system && { system: true }),
  }),
  row: FleetServer,
  listedAs: fleetEntry,
});

const awake: readonly Phase[] = ["Starting", "Running", "Stopping"];
/** What needs a person comes first. */
const byPhase: readonly Phase[] = ["Failed", "Starting", "Running", "Stopping", "Unknown", "Stopped"];

/** Sets of servers that operators look for; `attention` holds those that failed or are retiring. */
export const FleetFilter = z.enum(["awake", "asleep", "failed", "attention", "unowned"]);
export const FleetSort = z.enum(["name", "phase", "players", "owner", "node"]);

function fleetFilters(server: FleetServer): z.output<typeof FleetFilter>[] {
  const { phase } = server;
  const isFailed = phase === "Failed" || server.startGaveUp === true;
  const filters: [z.output<typeof FleetFilter>, boolean][] = [
    ["awake", awake.includes(phase)],
    ["asleep", phase === "Stopped"],
    ["failed", isFailed],
    ["attention", isFailed || server.retiring !== undefined],
    ["unowned", server.owner === undefined && server.ownerUnknown !== true && server.system !== true],
  ];
  return filters.filter(([, isMember]) => isMember).map(([filter]) => filter);
}

function fleetEntry(server: FleetServer): Listed {
  const { name, subdomain, displayName = "", nodeName = "", phase, playersOnline, tags = [] } = server;
  const tagNames = tags.map((tag) => tag.name);
  const owner = server.ownerPlayer ?? server.owner ?? "";
  return {
    name,
    text: [name, subdomain, displayName, server.owner, server.ownerPlayer, ...tagNames]
      .filter(Boolean)
      .join("\n"),
    filters: { filter: fleetFilters(server), node: [nodeName], tag: tagNames },
    sorts: {
      phase: byPhase.indexOf(phase),
      players: playersOnline,
      owner: owner.toLowerCase(),
      node: nodeName,
    },
  };
}

/** One server: whole for its owner, those it is shared with and staff, trimmed for everybody else; servers of the platform are not shown. */
export const statusRows = viewRows({
  factsOf: (info: ServerInfo, ownership: ServerOwnership | undefined) => factsOf(ownership, info),
  readerOf: (facts, principal) => {
    // Names of the platform are refused by the owner (docs/reference/server-resource.md#names).
    if (!isUserName(facts.name)) return undefined;
    return standingOf(facts, principal) ? "manager" : "public";
  },
  rowFor: (reader: "manager" | "public", info: ServerInfo, ownership: ServerOwnership | undefined) =>
    reader === "manager" ? withRetirement(info, ownership) : toPublicInfo(info),
  row: z.union([ServerInfo, PublicServerInfo]),
});

/** The caller's own list: what the account owns, what is shared with it, and what it could claim. */
export const myRows = viewRows({
  factsOf: (ownership: ServerOwnership, info: ServerInfo | undefined) => factsOf(ownership, info),
  readerOf: (facts, principal) => {
    const standing = standingOf(facts, principal, true);
    if (standing === "owner" || standing === "member") return standing;
    return couldClaim(facts, principal) ? "claimant" : undefined;
  },
  shownTo: ({ ownerId, members, claimable }) =>
    claimable
      ? "everybody"
      : [ownerId, ...members.map(({ user_id }) => user_id)].filter((id) => id !== undefined),
  rowFor: (
    reader: "owner" | "member" | "claimant",
    ownership: ServerOwnership,
    info: ServerInfo | undefined,
  ) => toMyServerView(ownership, info, reader),
  row: MyServerView,
});

/** What something may change of at a server (docs/reference/events.md#stream). */
export const ServerChangeType = z.enum([
  "server",
  "schedule",
  "job",
  "file",
  "move",
  "drill",
  "backup",
  "crash",
]);
export type ServerChangeType = z.output<typeof ServerChangeType>;

/** Owners, members and staff hear of everything, others of the servers in their own list: those that they could claim. */
export const serverChangeRights = changeRights({
  factsOf: (info: ServerInfo | undefined, ownership: ServerOwnership | undefined) => factsOf(ownership, info),
  hears: (facts, principal, type: ServerChangeType) => {
    if (principal.kind !== "account") return false;
    if (standingOf(facts, principal)) return true;
    return type === "server" && couldClaim(facts, principal);
  },
  entryType: "server",
});

function withRetirement(info: ServerInfo, ownership: ServerOwnership | undefined): ServerInfo {
  return { ...info, ...(ownership?.retiring && { retiring: ownership.retiring }) };
}

function toPublicInfo(info: ServerInfo): PublicServerInfo {
  const { name, subdomain, displayName, phase, ready, playersOnline, playersMax } = info;
  return {
    ...{ name, subdomain, phase, ready, playersOnline, playersMax },
    ...(displayName !== undefined && { displayName }),
  };
}

/** `info` is undefined while the cluster cannot be reached, and when the object is gone. */
function toMyServerView(
  { name, subdomain, claimable, retiring }: ServerOwnership,
  info: ServerInfo | undefined,
  reader: "owner" | "member" | "claimant",
): MyServerView {
  const base = { name, subdomain, owned: reader === "owner", claimable };
  const isWhole = reader !== "claimant";
  const own = isWhole && retiring ? { retiring } : {};
  if (!info) return { ...base, playersOnline: 0, playersMax: 0, ...own };
  const { phase, playersOnline, playersMax, displayName } = info;
  const shown = {
    ...base,
    playersOnline,
    playersMax,
    phase,
    ...(displayName !== undefined && { displayName }),
  };
  if (!isWhole) return shown;
  const { desiredState, autostartPolicy, playerCountUnknown, autoRestarts, startGaveUp } = info;
  const { startRequestedAt, startEstimate, stopsAt, tags, conditions } = info;
  return {
    ...shown,
    ...(desiredState !== undefined && { desiredState }),
    ...(autostartPolicy !== undefined && { autostartPolicy }),
    ...(playerCountUnknown !== undefined && { playerCountUnknown }),
    ...(autoRestarts !== undefined && { autoRestarts }),
    ...(startGaveUp !== undefined && { startGaveUp }),
    ...(startRequestedAt !== undefined && { startRequestedAt }),
    ...(startEstimate !== undefined && { startEstimate }),
    ...(stopsAt !== undefined && { stopsAt }),
    ...(tags !== undefined && { tags }),
    ...(conditions !== undefined && { conditions }),
    ...own,
  };
}
