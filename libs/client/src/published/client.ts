// The client that other people install: operations as methods (docs/reference/client.md).

import type { AnyContract } from "@svc/proto";
import { type ClientInput, type ClientOutput, createClient as createCaller } from "../client.ts";
import type { StreamEvent } from "../events.ts";
import { type FollowSettings, follow } from "./follow.ts";
import type { Marked } from "./marked.ts";
import { bounded, withRetries } from "./retry.ts";

export type ClientOptions = {
  /** Origin of the panel, for example `https://console.example.net`. */
  url: string;
  /** Secret of an API token. */
  token: string;
  /** Milliseconds that a call may take, with its repetitions; default 60,000. Streams and downloads have no end of their own. */
  timeoutMs?: number;
  /** Default: the global one. */
  fetch?: typeof globalThis.fetch;
};

export type CallSettings = {
  signal?: AbortSignal;
  /** In place of the client's. */
  timeoutMs?: number;
};

type Operation = AnyContract | Marked<"events" | "upload" | "download", AnyContract>;
/** Operations by noun and verb, as this package exports them. */
export type Nouns = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

type Body = Blob | Uint8Array<ArrayBuffer> | string;
type Given<C extends AnyContract, S> =
  Record<never, never> extends ClientInput<C>
    ? [input?: ClientInput<C>, settings?: S]
    : [input: ClientInput<C>, settings?: S];

/** One operation as a method. */
export type Method<O> =
  O extends Marked<"events", infer C>
    ? (...given: Given<C, FollowSettings>) => AsyncGenerator<StreamEvent, void>
    : O extends Marked<"upload", infer C>
      ? (input: ClientInput<C>, body: Body, settings?: CallSettings) => Promise<ClientOutput<C>>
      : O extends Marked<"download", infer C>
        ? (...given: Given<C, CallSettings>) => Promise<Response>
        : O extends AnyContract
          ? (...given: Given<O, CallSettings>) => Promise<ClientOutput<O>>
          : never;

/** Methods by noun and verb: `client.servers.wake({ name })`. */
export type Client<N extends Nouns> = {
  readonly [K in keyof N]: { readonly [V in keyof N[K]]: Method<N[K][V]> };
};

/** Makes a client of these operations alone, so that a bundler leaves out the others. It keeps nothing open. */
export function createClient<const N extends Nouns>({
  use,
  ...options
}: ClientOptions & { use: N }): Client<N> {
  const caller = callerOf(options);
  const methodsOf = (operations: Readonly<Record<string, Operation>>) =>
    Object.fromEntries(Object.entries(operations).map(([verb, one]) => [verb, methodOf(caller, one)]));
  return Object.fromEntries(
    Object.entries(use).map(([noun, operations]) => [noun, methodsOf(operations)]),
  ) as Client<N>;
}

type Caller = ReturnType<typeof createCaller> & { timeoutMs: number };

function callerOf({ url, token, timeoutMs = 60_000, fetch }: ClientOptions): Caller {
  if (!/^https?:\/\//.test(url))
    throw new TypeError(`url: ${url} is no address such as https://console.example.net`);
  if (token.trim() === "")
    throw new TypeError("token: make one on the panel's account page, or with `svc token create`");
  const headers = { authorization: `Bearer ${token.trim()}` };
  return { ...createCaller({ baseUrl: url, headers, ...(fetch && { fetch }) }), timeoutMs };
}

type AnyInput = ClientInput<AnyContract>;
const octets = { "content-type": "application/octet-stream" };

function methodOf(caller: Caller, operation: Operation) {
  if (!("kind" in operation)) return jsonMethod(caller, operation);
  const { kind, contract } = operation;
  if (kind === "upload") return uploadMethod(caller, contract);
  if (kind === "download") {
    return (input: AnyInput = {}, { signal }: CallSettings = {}) =>
      caller.open(contract, input, signal ? { signal } : {});
  }
  return (input: AnyInput = {}, settings: FollowSettings = {}) =>
    follow(
      (signal, last) =>
        caller.open(contract, input, { signal, ...(last !== "" && { headers: { "last-event-id": last } }) }),
      settings,
    );
}

function jsonMethod(caller: Caller, contract: AnyContract) {
  return (input: AnyInput = {}, { signal, timeoutMs = caller.timeoutMs }: CallSettings = {}) => {
    const attempt = (until: AbortSignal) => caller.call(contract, input, { signal: until });
    // A change that may have been made is not made twice.
    if (!contract.idempotent) return attempt(bounded({ signal, timeoutMs }));
    return withRetries(attempt, { signal, timeoutMs });
  };
}

function uploadMethod(caller: Caller, contract: AnyContract) {
  return async (input: AnyInput, body: Body, { signal, timeoutMs }: CallSettings = {}) => {
    const until = timeoutMs === undefined ? signal : bounded({ signal, timeoutMs });
    const settings = { body, headers: octets, ...(until && { signal: until }) };
    const response = await caller.open(contract, input, settings);
    return response.json();
  };
}
