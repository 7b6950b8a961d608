// A typed HTTP client of either face, derived from the contracts.

import {
  type AnyContract,
  type Contract,
  type HttpBinding,
  headerOf,
  type InputOf,
  type OutputOf,
  parseNewer,
} from "@svc/proto";
import { z } from "zod";
import { ApiError } from "./error.ts";

type ClientOptions = {
  /** Origin of a face, for example `http://127.0.0.1:8080`. */
  baseUrl: string;
  /** Sent with every call: `authorization` on the internal face, for one. */
  headers?: Readonly<Record<string, string>>;
  /** Value of the svc_session cookie. */
  cookie?: string;
  /** Default: the global one. */
  fetch?: typeof globalThis.fetch;
};

export type CallSettings = { signal?: AbortSignal; headers?: Readonly<Record<string, string>> };

/** What a caller gives: the input without the cursor of a collected list. */
export type ClientInput<C extends AnyContract> = Omit<InputOf<C>, "cursor">;

/** What a caller gets: a collected list comes as `items`, and without a cursor. */
export type ClientOutput<C extends AnyContract> =
  OutputOf<C> extends { items: unknown[]; next?: string | undefined }
    ? Omit<OutputOf<C>, "next">
    : OutputOf<C>;

export type Client = {
  /**
   * Calls an operation with its flat input and answers its checked output. Throws `ApiError` for a refusal,
   * and what `fetch` throws when the face cannot be reached.
   */
  call: <C extends AnyContract>(
    contract: C,
    input: ClientInput<C>,
    settings?: CallSettings,
  ) => Promise<ClientOutput<C>>;
  /** As `call` for bindings whose answer is a stream of bytes or events; the caller reads the body. */
  open: <C extends AnyContract>(
    contract: C,
    input: ClientInput<C>,
    settings?: CallSettings & { body?: NonNullable<RequestInit["body"]> },
  ) => Promise<Response>;
};

/** Makes a client. It keeps nothing: no cookies, no connections of its own. */
export function createClient(options: ClientOptions): Client {
  const open: Client["open"] = async (contract, input, settings = {}) => {
    const request = requestOf(contract, input as Record<string, unknown>);
    const { fetch = globalThis.fetch } = options;
    const body = settings.body ?? request.body;
    const response = await fetch(new URL(request.path, options.baseUrl), {
      method: request.method,
      headers: { ...options.headers, ...cookieOf(options), ...request.headers, ...settings.headers },
      redirect: "manual",
      ...(body === undefined ? {} : { body }),
      ...(settings.signal ? { signal: settings.signal } : {}),
    });
    if (request.successes.includes(response.status)) return response;
    throw await errorOf(response);
  };
  return {
    open,
    call: async <C extends AnyContract>(contract: C, input: ClientInput<C>, settings?: CallSettings) => {
      const response = await open(contract, input, settings);
      const body: unknown = response.status === 204 ? null : await response.json();
      return decode(contract, body) as ClientOutput<C>;
    },
  };
}

function cookieOf({ cookie }: ClientOptions): Record<string, string> {
  return cookie === undefined ? {} : { cookie: `svc_session=${cookie}` };
}

type HttpRequest = {
  method: string;
  path: string;
  successes: readonly number[];
  headers: Record<string, string>;
  body: string | undefined;
};

function requestOf(contract: AnyContract, input: Record<string, unknown>): HttpRequest {
  const { http } = contract;
  if (!http) throw new Error(`${contract.subject} has no HTTP binding`);
  const body = bodyOf(contract, input);
  // Sign-in endpoints demand the type even without a body (docs/reference/sign-in.md#doors).
  const isJson = body !== undefined || http.rateLimited;
  return {
    method: http.method,
    path: pathOf(http, input) + queryOf(contract, input),
    successes: http.nullAs === undefined ? [http.status] : [http.status, http.nullAs],
    headers: { ...headersOf(contract, input), ...(isJson && { "content-type": "application/json" }) },
    body,
  };
}

function pathOf(http: HttpBinding, input: Record<string, unknown>): string {
  return http.path.replace(/\{([^}]+)\}/g, (_, name: string) => {
    const value = String(input[name] ?? "");
    // A dot segment would be resolved away and reach another operation.
    if (value === "" || value === "." || value === "..")
      throw new Error(`${http.path}: ${name} cannot be ${JSON.stringify(value)}`);
    return encodeURIComponent(value);
  });
}

function queryOf(contract: AnyContract, input: Record<string, unknown>): string {
  const query = new URLSearchParams();
  for (const name of Object.keys(contract.query.shape)) {
    if (input[name] !== undefined) query.set(name, String(input[name]));
  }
  return query.size === 0 ? "" : `?${query}`;
}

// The length is left to `fetch`, which knows the body.
function headersOf({ headers, http }: AnyContract, input: Record<string, unknown>): Record<string, string> {
  const names = Object.keys(headers.shape).filter(
    (name) => input[name] !== undefined && name !== "content_length",
  );
  const entries = names.map((name) => {
    const value = String(input[name]);
    const isToken = http?.bearer === "one-time" && name === "token";
    return isToken ? ["authorization", `Bearer ${value}`] : [headerOf(name).toLowerCase(), value];
  });
  return Object.fromEntries(entries);
}

function bodyOf({ body }: Contract, input: Record<string, unknown>): string | undefined {
  if (!body) return undefined;
  const names = Object.keys(body.shape).filter((name) => input[name] !== undefined);
  return JSON.stringify(Object.fromEntries(names.map((name) => [name, input[name]])));
}

// Members that a newer server adds are not errors: an older client must go on working.
function decode(contract: AnyContract, body: unknown): unknown {
  const name = contract.http?.collect;
  if (name === undefined) return parse(contract, contract.output, body);
  const { [name]: items, ...more }: Record<string, unknown> = typeof body === "object" ? { ...body } : {};
  return parse(contract, contract.output, { items, ...more });
}

function parse(contract: AnyContract, schema: z.ZodType, value: unknown): unknown {
  try {
    return parseNewer(schema, value);
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new Error(`${contract.subject}: the answer does not fit the contract: ${why}`);
  }
}

async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text();
  const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
  const { code, message } = envelopeOf(text);
  return new ApiError(message ?? `The server answered ${response.status}.`, {
    status: response.status,
    code: code ?? "",
    requestId: response.headers.get("x-request-id") ?? "",
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
  });
}

const Envelope = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

function envelopeOf(text: string): { code?: string; message?: string } {
  try {
    return Envelope.parse(JSON.parse(text)).error;
  } catch {
    return {};
  }
}
