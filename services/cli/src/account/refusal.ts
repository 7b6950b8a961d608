// What a refused call says to the person at the command line.

import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "@svc/client";
import { CommandError } from "../output.ts";

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

const mostRepeats = 2;

/** Makes a call again that was refused before the gateway knew whose it is, when nothing can have happened. */
export async function whenKnown<T>(work: () => Promise<T>): Promise<T> {
  for (let repeats = 0; ; repeats += 1) {
    try {
      return await work();
    } catch (error) {
      if (repeats === mostRepeats || !isRefusal(error, "auth_unavailable")) throw error;
      await delay((error.retryAfterSeconds ?? 1) * 1_000);
    }
  }
}

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
