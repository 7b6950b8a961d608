// Operations for the tests of this library: one for each kind of binding and each tier.

import {
  ByteCount,
  changeRights,
  countedPage,
  cursor,
  event,
  members,
  nothing,
  type Operation,
  oneTimeToken,
  operation,
  optionalPaging,
  page,
  view,
  viewRows,
} from "@svc/proto";
import { z } from "zod";

const common = { summary: "A test.", spec: "none" };
const item = { id: z.string().min(1).max(40) };
export const Thing = z.strictObject({ name: z.string(), size: z.number().int() });
export const things = view({
  name: "things",
  owner: "lifecycle",
  value: Thing,
  readers: ["gateway-internal", "gateway-external"],
  markEveryMs: 200,
  summary: "Things.",
});

const seen = z.strictObject({
  principal: z.unknown(),
  client: z.unknown(),
  request_id: z.string(),
  traceparent: z.string(),
  input: z.unknown(),
});

function seer(subject: string, http: Parameters<typeof operation>[0]["http"]) {
  return operation({ ...common, subject: `lifecycle.${subject}`, http, output: seen });
}

const external = { face: "external" } as const;

export const open = seer("see.open", { ...external, method: "GET", path: "/open", tier: "public" });
export const app = seer("see.app", { ...external, method: "GET", path: "/app", tier: "app" });
export const inSetup = seer("see.setup", {
  ...external,
  method: "GET",
  path: "/in-setup",
  tier: "app",
  setup: true,
});
export const admin = seer("see.admin", { ...external, method: "GET", path: "/admin", tier: "admin" });
export const owner = seer("see.owner", { ...external, method: "GET", path: "/owner", tier: "owner" });
export const service = seer("see.service", {
  face: "internal",
  method: "GET",
  path: "/service",
  tier: "service",
  callers: ["velocity"],
});

export const door = operation({
  ...common,
  subject: "lifecycle.door.enter",
  http: {
    ...external,
    method: "POST",
    path: "/door",
    tier: "public",
    rateLimited: true,
    session: "mints",
  },
  output: z.strictObject({ ok: z.literal(true) }),
});
const codeDoor = operation({
  ...common,
  subject: "lifecycle.door.code",
  http: { ...external, method: "POST", path: "/door/code", tier: "public", rateLimited: true },
  body: { code: z.string() },
  output: z.strictObject({ ok: z.literal(true) }),
});
export const leave = operation({
  ...common,
  subject: "lifecycle.door.leave",
  http: { ...external, method: "POST", path: "/leave", tier: "public", session: "ends" },
  output: z.strictObject({ ok: z.literal(true) }),
});

export const write = operation({
  ...common,
  subject: "lifecycle.thing.write",
  http: { ...external, method: "PUT", path: "/things/{id}", tier: "public", status: 201 },
  params: item,
  query: { loud: z.enum(["true", "false"]).optional() },
  body: { size: z.number().int(), tags: z.array(z.string()).optional() },
  output: z.strictObject({ got: z.unknown() }),
  faults: ["not_found", "cooldown", "unavailable"],
});
export const change = operation({
  ...common,
  subject: "lifecycle.thing.change",
  http: { ...external, method: "PUT", path: "/private/{id}", tier: "app", status: 204 },
  params: item,
  body: { size: z.number().int() },
  output: nothing,
});
export const touch = operation({
  ...common,
  subject: "lifecycle.thing.touch",
  http: { ...external, method: "POST", path: "/things/{id}/touch", tier: "public", status: 204 },
  params: item,
  body: { why: z.string().optional() },
  bodyOptional: true,
  output: nothing,
});

const paged = { query: cursor, output: page(Thing) };
export const collected = operation({
  ...common,
  ...paged,
  subject: "lifecycle.thing.collect",
  http: { ...external, method: "GET", path: "/collected", tier: "public", collect: "things" },
});
export const kept = operation({
  ...common,
  ...paged,
  subject: "lifecycle.thing.list",
  http: {
    ...external,
    method: "GET",
    path: "/things",
    tier: "public",
    collect: "things",
    view: { of: things, as: "list" },
  },
});
export const keptItem = operation({
  ...common,
  subject: "lifecycle.thing.read",
  http: {
    ...external,
    method: "GET",
    path: "/things/{id}",
    tier: "public",
    view: { of: things, as: "item", param: "id" },
  },
  params: item,
  output: Thing,
  faults: ["not_found"],
});

export const Keeper = z.strictObject({ name: z.string(), keeper: z.string().optional() });
/** Who keeps a thing. */
export const keepers = view({
  name: "keepers",
  owner: "lifecycle",
  value: Keeper,
  readers: ["gateway-external"],
  copiesFrom: ["identity"],
  markEveryMs: 50,
  staleAfterMs: 400,
  summary: "Keepers of things.",
});
const PersonalThing = z.strictObject({ name: z.string(), size: z.number().optional() });
/** Its keeper sees the size, others the name; nobody sees what has no keeper. */
const personalRows = viewRows({
  factsOf: (_: z.output<typeof Thing>, of: z.output<typeof Keeper> | undefined) => ({ keeper: of?.keeper }),
  readerOf: ({ keeper }, principal) => {
    if (keeper === undefined) return undefined;
    return principal.kind === "account" && principal.user_id === keeper ? "keeper" : "other";
  },
  rowFor: (reader: "keeper" | "other", { name, size }) => (reader === "keeper" ? { name, size } : { name }),
  row: PersonalThing,
});
const byKeeper = viewRows({
  ...personalRows,
  readerOf: (_facts, principal) => (principal.kind === "account" ? "keeper" : undefined),
  listedAs: ({ name, size = 0 }) => ({
    name,
    text: name,
    filters: { keeper: [String(size)] },
    sorts: { size },
  }),
});
const shownRows = viewRows({ ...personalRows, shownTo: ({ keeper }) => (keeper ? "everybody" : []) });
const personalView = { of: things, beside: keepers, needsBeside: true, rows: shownRows };
export const personalList = operation({
  ...common,
  subject: "lifecycle.thing.list-personal",
  http: {
    ...external,
    method: "GET",
    path: "/personal",
    tier: "app",
    collect: "things",
    view: { ...personalView, as: "list" },
  },
  query: cursor,
  output: page(PersonalThing),
});
/** A list that may be taken by pages; every caller sees all of it. */
export const personalPages = operation({
  ...common,
  subject: "lifecycle.thing.list-pages",
  http: {
    ...external,
    method: "GET",
    path: "/pages",
    tier: "app",
    collect: "things",
    view: { of: things, beside: keepers, needsBeside: true, rows: byKeeper, as: "list" },
  },
  query: {
    ...cursor,
    ...optionalPaging,
    query: z.string().max(100).optional(),
    keeper: z.string().optional(),
    sort: z.enum(["name", "size"]).optional(),
    order: z.enum(["asc", "desc"]).optional(),
  },
  output: countedPage(PersonalThing),
});
export const personalItem = operation({
  ...common,
  subject: "lifecycle.thing.read-personal",
  http: {
    ...external,
    method: "GET",
    path: "/personal/{id}",
    tier: "app",
    view: { ...personalView, as: "item", param: "id" },
  },
  params: item,
  output: PersonalThing,
  faults: ["not_found"],
});
export const changePersonal = operation({
  ...common,
  subject: "lifecycle.thing.change-personal",
  http: { ...external, method: "POST", path: "/personal/{id}/change", tier: "app" },
  params: item,
  output: z.strictObject({ ok: z.literal(true) }),
  faults: ["not_found"],
});

export const watch = operation({
  ...common,
  subject: "lifecycle.console.watch",
  http: {
    ...external,
    method: "GET",
    path: "/things/{id}/console",
    tier: "app",
    kind: "events",
    recheckAt: [members.accessChanged],
  },
  params: item,
  output: nothing,
});
/** As `keepers`, for streams: a pause of the machine is not a change. */
export const wardens = view({
  name: "wardens",
  owner: "lifecycle",
  value: Keeper,
  readers: ["gateway-external"],
  markEveryMs: 100,
  staleAfterMs: 6_000,
  summary: "Wardens of things.",
});
export const polished = event({
  subject: "lifecycle.thing.polished",
  data: z.object({ name: z.string() }),
  key: ({ name }) => name,
  sample: { name: "a" },
  summary: "A thing was polished.",
});
/** Keepers hear of everything at what they keep, staff of everything, others of what has no keeper. */
export const watchChanges = operation({
  ...common,
  subject: "lifecycle.thing.watch-changes",
  http: {
    ...external,
    method: "GET",
    path: "/changes",
    tier: "app",
    kind: "events",
    changes: {
      of: things,
      beside: wardens,
      rights: changeRights({
        factsOf: (_thing: unknown, keeper: z.output<typeof Keeper> | undefined) => ({
          keeper: keeper?.keeper,
          isFree: keeper !== undefined && keeper.keeper === undefined,
        }),
        hears: ({ keeper, isFree }, principal, type: "thing" | "polish") => {
          if (principal.kind !== "account") return false;
          if (principal.staff || principal.user_id === keeper) return true;
          return type === "thing" && isFree;
        },
        entryType: "thing",
      }),
      events: [{ event: polished, typeOf: (data) => polished.data.parse(data) && "polish" }],
    },
  },
  output: nothing,
});
export const put = operation({
  ...common,
  subject: "lifecycle.blob.put",
  http: { ...external, method: "PUT", path: "/blobs/{id}", tier: "public", kind: "upload" },
  params: item,
  output: z.unknown(),
});
export const putPart = operation({
  ...common,
  subject: "lifecycle.blob.put-part",
  http: {
    ...external,
    method: "PUT",
    path: "/parts/{id}",
    tier: "public",
    kind: "upload",
    upload: {
      maxBytes: 1_000,
      tooLarge: "part_too_large",
      incomplete: "upload_incomplete",
      contentTypes: ["application/octet-stream"],
    },
  },
  faults: ["upload_incomplete"],
  params: item,
  headers: { content_digest: z.string().max(200).optional(), content_length: ByteCount },
  output: z.unknown(),
});
export const putStream = operation({
  ...common,
  subject: "lifecycle.blob.put-stream",
  http: {
    ...external,
    method: "PUT",
    path: "/streams/{id}",
    tier: "public",
    kind: "upload",
    status: 204,
    bearer: "one-time",
    upload: { lengthRequired: false, maxBytes: 5_000_000, hasMinimumRate: false },
  },
  params: item,
  headers: oneTimeToken,
  output: nothing,
  faults: ["not_found"],
});
export const get = operation({
  ...common,
  subject: "lifecycle.blob.get",
  http: { ...external, method: "GET", path: "/blobs/{id}", tier: "public", kind: "download" },
  params: item,
  output: z.unknown(),
});

/** As hasJoined: nothing is 204, refusals are empty, a body is refused, two paths. */
export const raw = operation({
  ...common,
  subject: "lifecycle.raw.ask",
  http: {
    ...external,
    method: "GET",
    path: "/raw",
    aliases: ["/raw/also"],
    tier: "public",
    nullAs: 204,
    errors: "empty",
    refusesBody: true,
  },
  query: { say: z.enum(["null", "fault", "crash", "yes"]) },
  output: z.strictObject({ yes: z.literal(true) }).nullable(),
  faults: ["not_found"],
});
export const spend = operation({
  ...common,
  subject: "lifecycle.token.spend",
  http: { ...external, method: "DELETE", path: "/tokens/{id}", tier: "public", bearer: "one-time" },
  params: item,
  headers: { ...oneTimeToken, x_some_length: ByteCount.optional(), content_digest: z.string().optional() },
  output: seen,
  faults: ["not_found"],
});

const all = [
  ...[open, app, inSetup, admin, owner, service, door, codeDoor, leave, write, change, touch],
  ...[collected, kept, keptItem, watch, watchChanges, put, putPart, putStream, get],
  ...[raw, spend, personalList, personalPages, personalItem, changePersonal],
];
export const testOperations: readonly Operation[] = all.filter(
  (one): one is Operation => one.http !== undefined,
);
