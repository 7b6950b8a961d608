// How an operation, a request between services, an event and a view are declared (docs/reference/mesh.md#subjects).
// Everything else is derived from these values: HTTP routes, OpenAPI, the typed client, NATS permissions, tests.

import { z } from "zod";
import { type Caller, type CallerToken, type Owner, owners, type ServiceName } from "./caller.ts";
import type { CommonFault, FaultName } from "./fault.ts";
import type { MemberRight, Right } from "./right.ts";
import type { ChangeBinding, ImageBinding, ViewBinding } from "./view.ts";

export type Face = "internal" | "external";
export type Tier = "public" | "service" | "app" | "admin" | "owner";
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** How bytes move: one JSON answer, a server-sent event stream, a body in or out by byte transfer, or a picture. */
export type BindingKind = "json" | "events" | "upload" | "download" | "image";

export type HttpBinding = {
  kind: BindingKind;
  method: Method;
  /** Path with `{param}` places, from the root. */
  path: string;
  /** More paths of the same operation, with the same places. */
  aliases?: readonly string[];
  faces: readonly Face[];
  tier: Tier;
  /** Service-token holders that may call it; only with tier `service`. */
  callers: readonly CallerToken[];
  /** Whether an account in first-run setup may call it. */
  setup: boolean;
  /** Whether the per-address sign-in budget applies. */
  rateLimited: boolean;
  /** Whether the budget of reads without a credential applies to the caller's address (docs/reference/http.md#public-reads). */
  addressBudget?: boolean;
  /** Status of success. */
  status: number;
  /** Status without a body when the owner answers `null`; else `null` is a JSON body like any other. */
  nullAs?: 204;
  /** Refusals have no body, for protocols that know none; only 500 `internal` keeps its envelope. */
  errors?: "empty";
  /** A request that announces a body is 400, and its connection is closed. */
  refusesBody?: boolean;
  /**
   * The token of `Authorization: Bearer` is handed to the owner as the input field `token` (declare it with
   * `oneTimeToken`); without a well-formed one the field is empty, so that the owner refuses all in the same way.
   */
  bearer?: "one-time";
  /** What an upload must look like; checked before anybody is asked and before a byte is read. */
  upload?: UploadRule;
  /** The answer may hold secrets beside text of other people; it is never compressed (docs/reference/http.md#compression). */
  holdsSecrets?: boolean;
  /** Whether the owner's answer may set or clear the session cookie. */
  session?: "mints" | "ends";
  /**
   * The answer is `{[collect]: item[]}`, gathered from pages of the owner. With rows that are `listedAs` something, a caller
   * may ask for one page of it.
   */
  collect?: string;
  /**
   * What an API token must have to call it, all of them; absent: no token may (docs/reference/api-tokens.md#reach). The
   * gateway holds the server in `{name}` against the servers of the token.
   */
  rights?: readonly Right[];
  /**
   * What a member of the server in `{name}` must have to call it, where no API token may; absent: `rights`. With neither
   * only the owner may (docs/reference/shared-access.md#decision).
   */
  memberRights?: readonly MemberRight[];
  /** No server is in the path: the owner, or the rows of a view, leave out what the token does not reach. */
  serversBy?: "owner";
  /** Answered by the gateway from mirrored views; the owner answers otherwise. */
  view?: ViewBinding;
  /** Of what everybody is answered alike from a view: seconds for which caches may answer by themselves. */
  publicForSeconds?: number;
  /** Of kind `image`: drawn by the gateway from a mirrored view; no service is asked. */
  image?: ImageBinding;
  /**
   * Of kind `events`: at such an event about what a parameter of the path names its viewers are checked at once, not only once a
   * minute (docs/reference/shared-access.md#end).
   */
  recheckAt?: readonly { subject: string }[];
  /** Of kind `events`: made by the gateway from mirrored views and events; no service is asked. */
  changes?: ChangeBinding;
};

/** What the gateway demands of an uploaded body. */
export type UploadRule = {
  /** A body without a Content-Length is 411 `length_required`; default true. Only such a body can have trailers. */
  lengthRequired?: boolean;
  /** Largest body in bytes; default the gateway's own ceiling. `Infinity` leaves it to the owner. */
  maxBytes?: number;
  /** Fault of a body that is larger; default `too_large`. */
  tooLarge?: FaultName;
  /** Fault of a body that ends before its declared length; default `bad_request`. */
  incomplete?: FaultName;
  /** Media types that a body may have; a body without one passes. Default: any. */
  contentTypes?: readonly string[];
  /** False when the body may arrive slower than 16 KiB/s: only a standstill ends it. Default true. */
  hasMinimumRate?: boolean;
};

/** A request/reply between services, and an operation when it has an HTTP binding. */
export type Contract<Input = unknown, Output = unknown, Name extends FaultName = FaultName> = {
  type: "request";
  /** `<owner>.<noun>.<verb>`; the NATS subject is `svc.rpc.` + this. */
  subject: string;
  owner: Owner;
  http?: HttpBinding;
  params: z.ZodObject;
  query: z.ZodObject;
  /** Headers that are input: the field `content_digest` is the header Content-Digest. */
  headers: z.ZodObject;
  body?: z.ZodObject;
  /** True when the HTTP caller may leave the body out. */
  bodyOptional: boolean;
  /** Parameters, query, headers and body in one flat object; what the owner receives. */
  input: z.ZodType<Input>;
  output: z.ZodType<Output>;
  faults: readonly Name[];
  /** Services that may call it; for an operation the gateways of its faces. */
  callers: readonly Caller[];
  /** Only an idempotent contract is ever retried by the mesh. */
  idempotent: boolean;
  /**
   * The owner answers a repeat with the outcome of the first one and never makes the change twice (ADR 0014). Only where
   * nothing happens before the first write to the owner's database, and nothing after it that must not be lost.
   */
  onceById: boolean;
  deadlineMs: number;
  /**
   * Milliseconds that one replica has for a request that may be repeated; then another one is asked too. Infinity where
   * work takes long: then only a replica that has fallen silent is given up.
   */
  tryMs: number;
  /** Requests that one replica handles at once; above it the caller gets 503 at once. */
  maxInFlight: number;
  summary: string;
  spec: string;
};

export type InputOf<C> = C extends Contract<infer I, infer _O, infer _F> ? I : never;
export type OutputOf<C> = C extends Contract<infer _I, infer O, infer _F> ? O : never;
/** The faults that a handler of this contract may throw. */
export type FaultOf<C> = C extends Contract<infer _I, infer _O, infer F> ? F | CommonFault : never;
// biome-ignore lint/suspicious/noExplicitAny: a table of contracts of every input and output needs variance in both places
export type AnyContract = Contract<any, any, any>;

type Shape = z.ZodRawShape;
type Empty = Record<never, never>;
type InputShape<P extends Shape, Q extends Shape, B extends Shape, H extends Shape> = P & Q & B & H;

type Definition<
  P extends Shape,
  Q extends Shape,
  B extends Shape,
  H extends Shape,
  O extends z.ZodType,
  F extends FaultName,
> = {
  subject: string;
  params?: P;
  query?: Q;
  headers?: H;
  body?: B;
  bodyOptional?: boolean;
  output: O;
  faults?: readonly F[];
  callers?: readonly Caller[];
  idempotent?: boolean;
  onceById?: boolean;
  deadlineMs?: number;
  tryMs?: number;
  maxInFlight?: number;
  summary: string;
  spec: string;
};

type HttpDefinition = Pick<HttpBinding, "method" | "path" | "tier"> &
  Partial<Omit<HttpBinding, "method" | "path" | "tier" | "faces">> & { face: Face };

const defaults = { deadlineMs: 10_000, tryMs: 2_000, maxInFlight: 256 };

/** Declares a request that other services make of its owner. `input` is the flat shape. */
export function request<I extends Shape, O extends z.ZodType, F extends FaultName = never>(
  definition: Omit<Definition<Empty, Empty, I, Empty, O, F>, "params" | "query" | "headers" | "body"> & {
    input: I;
  },
): Contract<z.output<z.ZodObject<I>>, z.output<O>, F> {
  const { input, ...rest } = definition;
  return build<Empty, Empty, I, Empty, O, F>({ ...rest, body: input });
}

/** Declares an operation: a request that a gateway makes for an HTTP caller. */
export function operation<
  O extends z.ZodType,
  P extends Shape = Empty,
  Q extends Shape = Empty,
  B extends Shape = Empty,
  H extends Shape = Empty,
  F extends FaultName = never,
>(
  definition: Omit<Definition<P, Q, B, H, O, F>, "callers"> & { http: HttpDefinition },
): Contract<z.output<z.ZodObject<InputShape<P, Q, B, H>>>, z.output<O>, F> {
  const { http, ...rest } = definition;
  const { face, ...given } = http;
  const binding: HttpBinding = {
    kind: "json",
    faces: [face],
    callers: [],
    setup: false,
    rateLimited: false,
    status: 200,
    ...given,
  };
  const isMadeHere = given.changes !== undefined || given.image !== undefined;
  const callers = isMadeHere ? [] : ([`gateway-${face}`] as const);
  const contract = build<P, Q, B, H, O, F>({ ...rest, callers });
  return { ...contract, http: binding, idempotent: definition.idempotent ?? http.method === "GET" };
}

function build<
  P extends Shape,
  Q extends Shape,
  B extends Shape,
  H extends Shape,
  O extends z.ZodType,
  F extends FaultName,
>(
  definition: Definition<P, Q, B, H, O, F>,
): Contract<z.output<z.ZodObject<InputShape<P, Q, B, H>>>, z.output<O>, F> {
  const { params, query, headers, body, deadlineMs = defaults.deadlineMs } = definition;
  const shape = { ...params, ...query, ...headers, ...body } as InputShape<P, Q, B, H>;
  return {
    type: "request",
    subject: definition.subject,
    owner: ownerOf(definition.subject),
    params: z.strictObject(params ?? {}),
    query: z.strictObject(query ?? {}),
    headers: z.strictObject(headers ?? {}),
    ...(body ? { body: z.strictObject(body) } : {}),
    bodyOptional: definition.bodyOptional ?? false,
    input: z.strictObject(shape) as unknown as z.ZodType<z.output<z.ZodObject<InputShape<P, Q, B, H>>>>,
    output: definition.output as unknown as z.ZodType<z.output<O>>,
    faults: definition.faults ?? [],
    callers: definition.callers ?? [],
    idempotent: definition.idempotent ?? false,
    onceById: definition.onceById ?? false,
    deadlineMs,
    tryMs: definition.tryMs ?? (deadlineMs > defaults.deadlineMs ? Number.POSITIVE_INFINITY : defaults.tryMs),
    maxInFlight: definition.maxInFlight ?? defaults.maxInFlight,
    summary: definition.summary,
    spec: definition.spec,
  };
}

function ownerOf(subject: string): Owner {
  const owner = owners.find((name) => subject.startsWith(`${name}.`));
  if (!owner) throw new Error(`contract ${subject}: its first word is not a service that owns something`);
  return owner;
}

/** Every path under which an operation is served, its own first. */
export function pathsOf({ path, aliases = [] }: Pick<HttpBinding, "path" | "aliases">): string[] {
  return [path, ...aliases];
}

/** Name of the header that an input field is read from: `content_digest` is `Content-Digest`. */
export function headerOf(field: string): string {
  return field.replace(
    /(^|_)([a-z])/g,
    (_, gap: string, letter: string) => (gap && "-") + letter.toUpperCase(),
  );
}

/** The header shape of a binding with `bearer: "one-time"`; the token is never logged. */
export const oneTimeToken = { token: z.string().max(256) };

/** One page of a list that a gateway collects; `next` is the cursor of the following page. */
export function page<T extends z.ZodType>(item: T) {
  return z.strictObject({ items: z.array(item), next: z.string().optional() });
}
/** As `page`, of a list that HTTP callers may take by pages: then `total` counts the matching items. */
export function countedPage<T extends z.ZodType>(item: T) {
  return page(item).extend({ total: z.number().int().min(0).optional() });
}
/** The query of a collected list; never visible on HTTP. */
export const cursor = { cursor: z.string().max(200).optional() };

/** The output of an operation that answers 204. */
export const nothing = z.null();

/** A fact that happened, kept in the owner's JetStream stream and published from its outbox. */
export type EventContract<Data = unknown> = {
  type: "event";
  /** `<owner>.<noun>.<past participle>`; the NATS subject is `svc.evt.` + this + `.` + key. */
  subject: string;
  owner: Owner;
  data: z.ZodType<Data>;
  /** Subject-safe key of one event, so that a reader can follow one thing. */
  key: (data: Data) => string;
  /** A body that must always parse: old events stay readable. */
  sample: Data;
  /** Services that may listen to it live (`mesh.listen`), in addition to those with a durable consumer. */
  listeners: readonly ServiceName[];
  summary: string;
};

export function event<D extends z.ZodType>(definition: {
  subject: string;
  data: D;
  key: (data: z.output<D>) => string;
  sample: z.output<D>;
  listeners?: readonly ServiceName[];
  summary: string;
}): EventContract<z.output<D>> {
  const data = definition.data as unknown as z.ZodType<z.output<D>>;
  const { listeners = [] } = definition;
  return { ...definition, data, listeners, type: "event", owner: ownerOf(definition.subject) };
}

/**
 * A key-value bucket of one owner, for what must be gone after a while and must be found by every replica of it:
 * tickets, upload sessions (docs/reference/data.md#leases). Nobody else can read or write it.
 */
export type Bucket<Value = unknown> = {
  type: "bucket";
  /** Bucket name as NATS tools show it; unique among buckets and views. */
  name: string;
  owner: Owner;
  value: z.ZodType<Value>;
  /** Milliseconds from its last write after which an entry goes away by itself; at least 1000. */
  ttlMs: number;
  summary: string;
};

export function bucket<V extends z.ZodType>(definition: {
  name: string;
  owner: Owner;
  value: V;
  ttlMs: number;
  summary: string;
}): Bucket<z.output<V>> {
  return { ...definition, value: definition.value as unknown as z.ZodType<z.output<V>>, type: "bucket" };
}

/** An operation that every gateway answers itself, about its own process (docs/reference/http.md#health). */
export type ProcessOperation = {
  type: "process";
  answers: "health" | "metrics";
  http: HttpBinding;
  summary: string;
  spec: string;
};
