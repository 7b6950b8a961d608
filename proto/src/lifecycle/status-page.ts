// What owners and staff show to everybody, without signing in (docs/reference/status-pages.md).
// Vocabulary: status page = the public page of one server, or of the installation; shown = its owner or staff switched it on.

import { z } from "zod";
import { operation } from "../contract.ts";
import { languages } from "../language.ts";
import { Timestamp } from "../text.ts";
import { view } from "../view.ts";
import { ServerNameParam } from "./names.ts";
import { badgePolicy, badgeVariant, drawBadge, publicStates } from "./status-badge.ts";

/** Servers that the page of the installation lists; the others are reached by their own addresses. */
export const mostListed = 500;
/** Days of which a page tells how a server was. */
export const daysShown = 90;

const count = z.int().min(0);

export const PublicState = z.enum(publicStates);
export type PublicState = z.output<typeof PublicState>;

/** What everybody may know of a server whose page is shown, and nothing else. */
export const StatusServer = z.strictObject({
  subdomain: z.string(),
  /** What players join. */
  address: z.string(),
  /** Its display name, else its subdomain. */
  name: z.string(),
  state: PublicState,
  /** While it is online and the players could be counted. */
  players: z.strictObject({ online: count, max: count }).optional(),
  /** Of a start: when half of the starts before would have been over. */
  ready_at: Timestamp.optional(),
  /** When maintenance ends. */
  until: Timestamp.optional(),
});
export type StatusServer = z.output<typeof StatusServer>;

/** Minutes of one day in UTC. About the others nothing is known. */
export const StatusDay = z.strictObject({
  day: z.iso.date(),
  known_minutes: count,
  /** Of them: nobody could join or wake it. */
  down_minutes: count,
  /** Of them: maintenance that was announced. */
  planned_minutes: count,
});
export type StatusDay = z.output<typeof StatusDay>;

export const StatusPage = StatusServer.extend({
  /** Text of the server list in the game, without formatting, when somebody set one. */
  motd: z.string().optional(),
  /** Since when it is shown; earlier days are not reported. */
  since: Timestamp,
  /** Of the last 90 days those on which something is known, the oldest first. */
  days: z.array(StatusDay).max(daysShown + 1),
  /** The minute in which this was true. */
  as_of: Timestamp,
});
export type StatusPage = z.output<typeof StatusPage>;

export const StatusOverview = z.strictObject({
  /** In the order of their names. */
  servers: z.array(StatusServer).max(mostListed),
  /** How many more there are. */
  more: count,
  as_of: Timestamp,
});
export type StatusOverview = z.output<typeof StatusOverview>;

/** Pages of servers by subdomain; of no server that is not shown. */
export const pages = view({
  name: "status-pages",
  owner: "lifecycle",
  value: StatusPage,
  readers: ["gateway-external"],
  summary: "Public status pages of servers, by subdomain.",
});

export const overviewKey = "all";
/** One entry, while staff show the page of the installation. */
export const overviews = view({
  name: "status-overview",
  owner: "lifecycle",
  value: StatusOverview,
  readers: ["gateway-external"],
  summary: "The public status page of the installation.",
});

const spec = "docs/reference/status-pages.md#public";
const everybody = {
  method: "GET",
  face: "external",
  tier: "public",
  addressBudget: true,
  publicForSeconds: 5,
} as const;
/** Of any shape, so that what cannot be a subdomain is answered as one that is not shown. */
const subdomain = z.string().min(1).max(255);

export const readOverview = operation({
  subject: "lifecycle.status-page.read-overview",
  http: {
    ...everybody,
    path: "/api/v1/status",
    view: { of: overviews, as: "item", key: overviewKey, missing: "not_found" },
  },
  output: StatusOverview,
  faults: ["not_found"],
  maxInFlight: 32,
  summary: "The servers that are shown to everybody, when staff show the page of the installation.",
  spec,
});

export const readPage = operation({
  subject: "lifecycle.status-page.read-page",
  http: {
    ...everybody,
    path: "/api/v1/status/{subdomain}",
    view: { of: pages, as: "item", param: "subdomain", missing: "not_found" },
  },
  params: { subdomain },
  output: StatusPage,
  faults: ["not_found"],
  maxInFlight: 32,
  summary: "How a server is that is shown to everybody; any other is not found.",
  spec,
});

export const readBadge = operation({
  subject: "lifecycle.status-page.read-badge",
  http: {
    ...everybody,
    kind: "image",
    path: "/api/v1/status/{subdomain}/badge.svg",
    publicForSeconds: 60,
    image: {
      ...{ of: pages, param: "subdomain", missing: "not_found" },
      ...{ contentType: "image/svg+xml; charset=utf-8", policy: badgePolicy },
      ...{ variantOf: badgeVariant, draw: drawBadge },
    },
  },
  params: { subdomain },
  /** Default: English. */
  query: { language: z.enum(languages).optional() },
  output: z.string(),
  faults: ["not_found"],
  summary: "The state of a server as a picture for other sites.",
  spec: "docs/reference/status-pages.md#badge",
});

/** What the owner of a server and staff see. */
export const Shown = z.strictObject({
  public: z.boolean(),
  /** Since when; absent when it is not. */
  since: Timestamp.optional(),
  subdomain: z.string(),
  address: z.string(),
  /** Whether staff show the page of the installation, which lists it. */
  listed: z.boolean(),
});
export type Shown = z.output<typeof Shown>;

const own = { path: "/api/v1/servers/{name}/status-page", face: "external", tier: "app" } as const;
const showSpec = "docs/reference/status-pages.md#show";

export const read = operation({
  subject: "lifecycle.status-page.read",
  http: { ...own, method: "GET" },
  params: { name: ServerNameParam },
  output: Shown,
  faults: ["bad_name", "not_found"],
  summary: "Whether the status of a server is shown to everybody.",
  spec: showSpec,
});

export const write = operation({
  subject: "lifecycle.status-page.write",
  http: { ...own, method: "PUT" },
  params: { name: ServerNameParam },
  body: { public: z.boolean() },
  output: Shown,
  faults: ["bad_name", "not_found"],
  onceById: true,
  summary: "Shows the status of a server to everybody, or no longer.",
  spec: showSpec,
});

const platform = { path: "/api/v1/platform/status-page", face: "external", tier: "admin" } as const;
const Overall = z.strictObject({
  public: z.boolean(),
  /** Servers whose own pages are shown. */
  servers: count,
});

export const readOverall = operation({
  subject: "lifecycle.status-page.read-overall",
  http: { ...platform, method: "GET" },
  output: Overall,
  summary: "Whether the status page of the installation is shown to everybody.",
  spec: showSpec,
});

export const writeOverall = operation({
  subject: "lifecycle.status-page.write-overall",
  http: { ...platform, method: "PUT" },
  body: { public: z.boolean() },
  output: Overall,
  onceById: true,
  summary: "Shows the status page of the installation to everybody, or no longer.",
  spec: showSpec,
});
