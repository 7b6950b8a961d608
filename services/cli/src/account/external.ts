// Calls of the external face with the saved session.

import { ApiError, type CallSettings, type ClientInput, type ClientOutput } from "@svc/client";
import type { AnyContract } from "@svc/proto";
import { CommandError } from "../output.ts";
import { readStackFile } from "../stack-file.ts";
import { createFaceClient } from "./face-client.ts";
import { type Face, findSession } from "./session-file.ts";

export type External = {
  /** The host that the session is for. */
  face: Face;
  /** Throws a refusal as one sentence; obtains a fresh proof where one is required and repeats the call. */
  call: <C extends AnyContract>(contract: C, input: ClientInput<C>) => Promise<ClientOutput<C>>;
  /** As `call` for streams of bytes and events. */
  open: <C extends AnyContract>(
    contract: C,
    input: ClientInput<C>,
    settings?: CallSettings & { body?: NonNullable<RequestInit["body"]> },
  ) => Promise<Response>;
};

/** The external face with the saved session. Throws a `CommandError` when nobody is signed in. */
export function connectExternal(data: string): External {
  const session = findSession(data);
  if (!session) throw notSignedIn(data);
  const { face } = session;
  const proven = async <T>(work: (client: ReturnType<typeof createFaceClient>) => Promise<T>): Promise<T> => {
    try {
      return await work(createFaceClient(data, face));
    } catch (error) {
      if (!isRefusal(error, "reauth_required")) throw explain(error);
      await (await import("./prove.ts")).prove(data, face);
      return await work(createFaceClient(data, face)).catch((again: unknown) => {
        throw explain(again);
      });
    }
  };
  return {
    face,
    call: (contract, input) => proven((client) => client.call(contract, input)),
    open: (contract, input, settings) => proven((client) => client.open(contract, input, settings)),
  };
}

/** A refusal as a sentence; keeps code and wait for commands that handle them. */
export class RefusedError extends CommandError {
  override name = "RefusedError";
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, { code, retryAfterSeconds }: ApiError) {
    super(message);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export function isCode(error: unknown, code: string): error is RefusedError {
  return error instanceof RefusedError && error.code === code;
}

export function isRefusal(error: unknown, ...codes: readonly string[]): error is ApiError {
  return error instanceof ApiError && codes.includes(error.code);
}

function notSignedIn(data: string): CommandError {
  if (readStackFile(data).setup_url !== undefined) return new CommandError(noOwner);
  return new CommandError("you are not signed in; sign in with: `svc account login`");
}

const noOwner =
  "this stack has no owner yet; become the owner with: `svc account setup --email YOU@EXAMPLE.NET`";

/** Turns a refused call into a message that says what to do; other errors are returned unchanged. */
export function explain(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { code, message, requestId, retryAfterSeconds } = error;
  if (code === "unauthorized") {
    return new CommandError(
      "your session has ended (operator sessions end after 30 idle minutes); sign in again with: `svc account login`",
    );
  }
  if (code === "setup_required") {
    return new CommandError(
      `${message} Finish the setup with: \`svc account setup --email YOU@EXAMPLE.NET\``,
    );
  }
  const wait = retryAfterSeconds === undefined ? "" : ` Try again in ${retryAfterSeconds} s.`;
  const words = `${message}${wait} (${code || error.status}, request ${requestId || "unknown"})`;
  return new RefusedError(words, error);
}
