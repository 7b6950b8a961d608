// What everybody may know of a server, and how a minute counts (docs/reference/status-pages.md#states). Pure.

import { isUserName, type PublicState, plainMotd, type ServerInfo, type statusPages } from "@svc/proto";

/** Of an announcement of maintenance. */
export type MaintenanceWindow = { endsAt: number; isPublic: boolean };

export type Facts = {
  /** What the object says. */
  info: ServerInfo;
  /** The server is being given up. */
  isRetiring: boolean;
  /** Windows that last now. */
  windows: readonly MaintenanceWindow[];
};

type State = Pick<statusPages.StatusServer, "state" | "until" | "ready_at" | "players">;

const isBlocked = ({ conditions }: ServerInfo) =>
  conditions?.some(({ type, reason }) => type === "Ready" && reason === "NodeUnavailable") === true;

/** Reasons stay inside: a failed start, a lost node and a server that is given up are all "unavailable". */
export function stateOf({ info, isRetiring, windows }: Facts): State {
  const { phase } = info;
  if (phase === "Failed" || phase === "Unknown" || isBlocked(info)) return { state: "unavailable" };
  if (phase === "Running" && info.ready) return { state: "online", ...playersOf(info) };
  if (phase === "Running" || phase === "Starting") return { state: "starting", ...readyAt(info) };
  if (phase === "Stopping") return { state: "stopping" };
  if (isRetiring) return { state: "unavailable" };
  return windows.length === 0 ? { state: "asleep" } : maintenanceOf(windows);
}

// What only those who are signed in were told of is not told here: then it just cannot be woken.
function maintenanceOf(windows: readonly MaintenanceWindow[]): State {
  const ends = windows.filter(({ isPublic }) => isPublic).map(({ endsAt }) => endsAt);
  if (ends.length === 0) return { state: "unavailable" };
  return { state: "maintenance", until: new Date(Math.max(...ends)).toISOString() };
}

function playersOf({ playerCountUnknown, playersOnline, playersMax }: ServerInfo): Pick<State, "players"> {
  return playerCountUnknown ? {} : { players: { online: playersOnline, max: playersMax } };
}

function readyAt({ startRequestedAt, startEstimate }: ServerInfo): Pick<State, "ready_at"> {
  if (startRequestedAt === undefined || startEstimate === undefined) return {};
  const at = Date.parse(startRequestedAt) + startEstimate.p50 * 1_000;
  return { ready_at: new Date(at).toISOString() };
}

/** Undefined for a server that has no page: one of the platform. */
export function toStatusServer(
  facts: Facts,
  { rootDomain }: { rootDomain: string },
): statusPages.StatusServer | undefined {
  const { name, subdomain, displayName } = facts.info;
  if (!isUserName(name)) return undefined;
  return {
    subdomain,
    address: `${subdomain}.${rootDomain}`,
    name: displayName ?? subdomain,
    ...stateOf(facts),
  };
}

type About = { rootDomain: string; since: Date; days: readonly statusPages.StatusDay[]; now: number };

export function toStatusPage(facts: Facts, about: About): statusPages.StatusPage | undefined {
  const server = toStatusServer(facts, about);
  if (!server) return undefined;
  const motd = plainMotd(facts.info.motd ?? "");
  return {
    ...server,
    ...(motd !== "" && { motd }),
    since: about.since.toISOString(),
    days: about.days.filter(({ day }) => day >= firstDay(about.now)),
    as_of: minuteOf(about.now).toISOString(),
  };
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

export const minuteOf = (now: number) => new Date(Math.floor(now / minuteMs) * minuteMs);
export const dayOf = (now: number) => new Date(now).toISOString().slice(0, 10);
/** The oldest day that is told of: with today there are 90. */
export const firstDay = (now: number) => dayOf(now - 89 * dayMs);

export type Minute = "up" | "down" | "planned";

/** A server that sleeps is up: whoever joins wakes it. */
export function minuteAs(state: PublicState): Minute {
  if (state === "unavailable") return "down";
  return state === "maintenance" ? "planned" : "up";
}

const compare = new Intl.Collator("en", { numeric: true }).compare;

export function toOverview(
  servers: readonly statusPages.StatusServer[],
  { now, most }: { now: number; most: number },
): statusPages.StatusOverview {
  const sorted = [...servers].sort(
    (one, other) => compare(one.name, other.name) || compare(one.subdomain, other.subdomain),
  );
  return {
    servers: sorted.slice(0, most),
    more: Math.max(0, sorted.length - most),
    as_of: minuteOf(now).toISOString(),
  };
}
