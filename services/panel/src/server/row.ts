// One server of a list, the same for its owner, for players and for staff.

import type { Output } from "../api/operations.ts";
import { visible } from "../words/visible.ts";
import { isStarting, type StartFacts } from "./start-progress.ts";

type Mine = Output<"ownership.listMine">["items"][number];
type Fleet = Output<"servers.fleet">["items"][number];

export type Phase = NonNullable<Mine["phase"]>;

export type ServerRow = StartFacts & {
  name: string;
  subdomain: string;
  displayName: string;
  phase: Phase;
  playersOnline: number;
  playersMax: number;
  playersUnknown: boolean;
  /** The caller owns it. */
  isMine: boolean;
  claimable: boolean;
  /** Somebody else owns it and shares it with the caller. */
  isShared: boolean;
  /** Only staff see it. */
  owner: string | undefined;
  gaveUp: boolean;
  retiring: Mine["retiring"];
  stopsAt?: string | undefined;
  tags?: Mine["tags"];
  system: boolean;
};

/** The same row as long as nothing about the server has changed: what is drawn of it stays. */
const known = new WeakMap<object, ServerRow>();

function keepRow<Server extends object>(make: (server: Server) => ServerRow): (server: Server) => ServerRow {
  return (server) => {
    const row = known.get(server) ?? make(server);
    known.set(server, row);
    return row;
  };
}

export const rowOfMine = keepRow((server: Mine): ServerRow => {
  return {
    ...common(server),
    phase: server.phase ?? "Unknown",
    isMine: server.owned,
    isShared: !server.owned && !server.claimable,
    owner: undefined,
    system: false,
  };
});

export const rowOfFleet = keepRow((server: Fleet): ServerRow => {
  return {
    ...common(server),
    phase: server.phase,
    isMine: false,
    isShared: false,
    owner: server.ownerPlayer ?? server.owner,
    system: server.system ?? false,
  };
});

function common(server: Mine | Fleet) {
  return {
    name: server.name,
    subdomain: server.subdomain,
    displayName: visible(server.displayName ?? server.name),
    playersOnline: server.playersOnline,
    playersMax: server.playersMax,
    playersUnknown: server.playerCountUnknown ?? false,
    claimable: server.claimable,
    gaveUp: server.startGaveUp ?? false,
    retiring: server.retiring,
    stopsAt: server.stopsAt,
    tags: server.tags,
    desiredState: server.desiredState,
    startRequestedAt: server.startRequestedAt,
    startEstimate: server.startEstimate,
    conditions: server.conditions,
  };
}

export const sorts = ["name", "players", "status"] as const;
type Sort = (typeof sorts)[number];
export const filters = ["all", "awake", "asleep", "failed"] as const;
type Filter = (typeof filters)[number];
export type ListView = {
  search: string;
  filter: Filter;
  sort: Sort;
  /** Servers with one tag; empty for all. */
  tag: string;
};

/** Reads what the address says about a list; anything else in it counts as nothing. */
export function listViewOf(query: Readonly<Record<string, unknown>>): ListView {
  const { q, show, sort, tag } = query;
  const textOf = (value: unknown) =>
    typeof value === "string" || typeof value === "number" ? String(value) : "";
  return {
    search: textOf(q),
    filter: filters.find((name) => name === show) ?? "all",
    sort: sorts.find((name) => name === sort) ?? "name",
    tag: textOf(tag),
  };
}

/** The same as an address says it. */
export function addressOf({ search, filter, sort, tag }: ListView): Record<string, string> {
  return {
    ...(search !== "" && { q: search }),
    ...(filter !== "all" && { show: filter }),
    ...(sort !== "name" && { sort }),
    ...(tag !== "" && { tag }),
  };
}

type PhaseFacts = { phase?: Phase | undefined; desiredState?: "Running" | "Stopped" | undefined };

/** Whether the phase is about to change: it starts or stops, or was asked to. */
export function isUnderWay({ phase, desiredState }: PhaseFacts): boolean {
  if (phase === "Starting" || phase === "Stopping") return true;
  return (
    (desiredState === "Running" && phase === "Stopped") || (desiredState === "Stopped" && phase === "Running")
  );
}

const awake: ReadonlySet<Phase> = new Set(["Starting", "Running", "Stopping"]);

export function isAwake({ phase }: Pick<ServerRow, "phase">): boolean {
  return awake.has(phase);
}

/** Whether there is a console to read; that of a start that failed says why (docs/reference/console.md#stream). */
export function hasConsole(phase: Phase): boolean {
  return awake.has(phase) || phase === "Failed";
}

/** Nothing runs, so the world may be changed. A start that failed leaves a pod (docs/reference/server-states.md#phases). */
export function isAtRest(phase: Phase): boolean {
  return phase === "Stopped";
}

/** Whether a stop would do something: also after a start that failed, which is otherwise tried again. */
export function canBeStopped(server: StartFacts): boolean {
  const { phase, desiredState } = server;
  return phase === "Running" || isStarting(server) || (phase === "Failed" && desiredState === "Running");
}

function passes(row: ServerRow, filter: Filter): boolean {
  if (filter === "awake") return isAwake(row);
  if (filter === "asleep") return row.phase === "Stopped";
  if (filter === "failed") return row.phase === "Failed" || row.gaveUp;
  return true;
}

const byName = new Intl.Collator("en", { numeric: true });

function hasTag({ tags = [] }: ServerRow, wanted: string): boolean {
  return wanted === "" || tags.some(({ name }) => name === wanted);
}

/** Names of the tags of a list, each once. */
export function tagNamesOf(rows: readonly ServerRow[]): string[] {
  const names = new Set(rows.flatMap(({ tags = [] }) => tags.map(({ name }) => name)));
  return [...names].sort(byName.compare);
}

const order: readonly Phase[] = ["Failed", "Starting", "Running", "Stopping", "Unknown", "Stopped"];

const comparers: Record<Sort, (a: ServerRow, b: ServerRow) => number> = {
  name: () => 0,
  players: (a, b) => b.playersOnline - a.playersOnline,
  status: (a, b) => order.indexOf(a.phase) - order.indexOf(b.phase),
};

type Named = Pick<ServerRow, "name" | "subdomain" | "displayName" | "owner" | "tags">;

/** Whether a search finds a server: all its words are in its names, as the service searches (docs/reference/http.md#pages). */
export function findsRow(search: string): (row: Named) => boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return ({ name, subdomain, displayName, owner = "", tags = [] }) => {
    if (words.length === 0) return true;
    const tagNames = tags.map((tag) => tag.name).join(" ");
    const text = `${name} ${subdomain} ${displayName} ${owner} ${tagNames}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

/** The servers to show, in order. */
export function selectRows(rows: readonly ServerRow[], view: ListView): ServerRow[] {
  const isFound = findsRow(view.search);
  return rows
    .filter((row) => passes(row, view.filter) && hasTag(row, view.tag) && isFound(row))
    .sort((a, b) => comparers[view.sort](a, b) || byName.compare(a.name, b.name));
}

/** What wants a person's attention, the worst first. */
export function needsAttention(row: ServerRow): "failed" | "retiring" | undefined {
  if (row.gaveUp || row.phase === "Failed") return "failed";
  return row.retiring ? "retiring" : undefined;
}
