// Every request of the panel goes through here.

import { noteServerTime } from "./clock.ts";
import { type ApiError, errorOf, offlineError } from "./error.ts";
import type { Input, OperationName, Output } from "./operations.ts";
import { rowOf } from "./operations.ts";
import { buildRequest } from "./request.ts";
import { sessionSignals } from "./session-signals.ts";

type CallOptions = { signal?: AbortSignal; headers?: Readonly<Record<string, string>>; body?: BodyInit };

/**
 * Calls an operation. A refusal throws an `ApiError`. Where a fresh proof of identity is missing the person is asked for
 * it once, and the refused request is repeated.
 */
export async function call<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  options: CallOptions = {},
): Promise<Output<Name>> {
  const response = await open(name, input, options);
  return read(name, response);
}

/** As `call` for operations that answer with a stream of bytes or events, or take a body of bytes. */
export async function open<Name extends OperationName>(
  name: Name,
  input: Input<Name>,
  options: CallOptions = {},
): Promise<Response> {
  const response = await send(name, input, options);
  if (response.ok || response.status === 304) return response;
  const error = await errorOf(response);
  if (error.code !== "reauth_required" || !(await sessionSignals.requestProof())) throw note(name, error);
  const repeated = await send(name, input, options);
  if (repeated.ok) return repeated;
  throw note(name, await errorOf(repeated));
}

/** Reads the JSON of a response; half a body or a foreign one counts as nobody there. */
export async function read<Name extends OperationName>(
  name: Name,
  response: Response,
): Promise<Output<Name>> {
  if (response.status === 204) return null as Output<Name>;
  const { collect } = rowOf(name);
  const body: unknown = await response.json().catch(() => {
    throw offlineError();
  });
  if (collect === undefined) return body as Output<Name>;
  const { [collect]: items, ...more } = body as Record<string, unknown>;
  return { ...more, items } as Output<Name>;
}

async function send(name: OperationName, input: object, options: CallOptions): Promise<Response> {
  const { method, path, headers, body } = buildRequest(rowOf(name), { ...input });
  const payload = options.body ?? body;
  try {
    const response = await fetch(path, {
      method,
      headers: { ...headers, ...options.headers },
      cache: "no-store",
      redirect: "error",
      ...(payload !== undefined && { body: payload }),
      ...(options.signal && { signal: options.signal }),
    });
    noteServerTime(response);
    return response;
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw offlineError();
  }
}

/** Where 401 is no end of a session: nobody is there, or what was typed is wrong. */
const withoutSession: ReadonlySet<OperationName> = new Set(["accounts.me", "signIn.passwordLogin"]);

/** Tells the app of refusals that concern all pages. */
export function note(name: OperationName, error: ApiError): ApiError {
  if (error.status === 401 && !withoutSession.has(name)) sessionSignals.sessionEnded();
  if (error.code === "setup_required") sessionSignals.setupRequired();
  return error;
}
