import { assertCommand } from "./command.ts";
import { type Connection, openConnection } from "./connection.ts";
import { RconError } from "./errors.ts";
import { maxListReplyBytes } from "./player-list.ts";

/** Where to connect. `timeoutMs` (5000) covers TCP connect and password, and is the default of each command. */
type RconOptions = {
  readonly host: string;
  readonly port: number;
  readonly password: string;
  readonly timeoutMs?: number;
  /** Ends the connection, whatever it does at that time; what is in flight rejects with `closed`. */
  readonly signal?: AbortSignal;
  /** Cap of one reply in bytes (1 MiB); above it the reply is refused with `too_long`. A probe's is cut (16 KiB). */
  readonly maxReplyBytes?: number;
};

/** An authenticated connection. Commands may be called at the same time; they run one after another. */
export type RconClient = {
  /**
   * Runs one command and resolves with the whole reply, which may be empty. `timeoutMs` counts from the call, so it
   * includes the wait for earlier commands. A command that times out after it was sent closes the connection.
   * @throws RconError
   */
  command(text: string, options?: { readonly timeoutMs?: number }): Promise<string>;
  /** Closes the connection; commands in flight and waiting reject with `closed`. May be called twice. */
  close(): Promise<void>;
  /** False once the connection has ended for any reason. */
  readonly isOpen: () => boolean;
  [Symbol.asyncDispose](): Promise<void>;
};

const defaultTimeoutMs = 5_000;
const defaultMaxReplyBytes = 1024 * 1024;

/**
 * Connects and authenticates (docs/reference/console.md#rcon).
 * @throws RconError `connect`, `auth`, `timeout`, `closed` or `protocol`
 */
export async function connectRcon(options: RconOptions): Promise<RconClient> {
  const { host, port, password, timeoutMs = defaultTimeoutMs, signal } = options;
  throwIfAborted(signal);
  const connection = openConnection({
    host,
    port,
    maxReplyBytes: options.maxReplyBytes ?? defaultMaxReplyBytes,
  });
  const forget = failOnAbort(connection, signal);
  const timer = setTimeout(() => connection.fail(timedOut(host, port, timeoutMs)), timeoutMs);
  try {
    await connection.authenticate(password);
  } catch (error) {
    forget();
    throw error;
  } finally {
    clearTimeout(timer);
  }
  return clientOf(connection, { timeoutMs, forget });
}

function clientOf(connection: Connection, options: { timeoutMs: number; forget: () => void }): RconClient {
  let last: Promise<unknown> = Promise.resolve();

  const command: RconClient["command"] = async (text, { timeoutMs = options.timeoutMs } = {}) => {
    assertCommand(text);
    const before = last;
    const mine = withDeadline({ connection, text, timeoutMs, before });
    last = mine.settled;
    return mine.reply;
  };
  const close = () => {
    options.forget();
    return connection.close();
  };
  return { command, close, isOpen: () => connection.failure() === undefined, [Symbol.asyncDispose]: close };
}

type Turn = {
  readonly connection: Connection;
  readonly text: string;
  readonly timeoutMs: number;
  readonly before: Promise<unknown>;
};

/** `reply` may reject while the command still waits; `settled` is when the next command may go, and never rejects. */
function withDeadline({ connection, text, timeoutMs, before }: Turn) {
  let state: "waiting" | "sent" | "given up" = "waiting";
  const { promise: reply, resolve, reject } = Promise.withResolvers<string>();
  const timer = setTimeout(() => {
    const error = new RconError("timeout", `The server gave no full answer within ${timeoutMs} ms.`);
    if (state === "sent") connection.fail(error);
    state = "given up";
    reject(error);
  }, timeoutMs);
  const turn = async () => {
    if (state === "given up") return;
    state = "sent";
    try {
      resolve(await connection.run(text));
    } catch (error) {
      reject(error);
    } finally {
      clearTimeout(timer);
    }
  };
  return { reply, settled: before.then(turn) };
}

/** Ties a connection to the caller's signal; the returned function unties it, so that a long-lived signal keeps nothing. */
function failOnAbort(connection: Connection, signal: AbortSignal | undefined): () => void {
  if (!signal) return () => {};
  const onAbort = () => connection.fail(cancelled(signal));
  signal.addEventListener("abort", onAbort, { once: true });
  return () => signal.removeEventListener("abort", onAbort);
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw cancelled(signal);
}

function cancelled(signal: AbortSignal): RconError {
  return new RconError("closed", "The RCON call was cancelled.", { cause: signal.reason });
}

function timedOut(host: string, port: number, timeoutMs: number): RconError {
  return new RconError(
    "timeout",
    `The RCON server at ${host}:${port} did not accept the login within ${timeoutMs} ms.`,
  );
}

type ProbeResult = {
  /** The reply to `list`; empty when the server let us in but did not answer it. */
  readonly list: string;
  /** Why `list` is empty although the password was accepted. */
  readonly listFailure?: RconError;
};

/**
 * Readiness and player count in one connection: TCP connect, password, `list`, all within `timeoutMs` (5000, docs/reference/server-states.md#probe). An accepted password is readiness by itself: a `list` that fails afterwards does not reject, it only
 * leaves `list` empty, which `parsePlayerList` reads as unknown (docs/reference/server-states.md#probe). A long reply is cut and nothing after
 * it read.
 * @throws RconError when there is no connection, no accepted password or no time left for either
 */
export async function probe(options: RconOptions): Promise<ProbeResult> {
  const { host, port, password, timeoutMs = defaultTimeoutMs, signal } = options;
  throwIfAborted(signal);
  const maxReplyBytes = options.maxReplyBytes ?? maxListReplyBytes;
  const connection = openConnection({ host, port, maxReplyBytes, cutsReply: true });
  const forget = failOnAbort(connection, signal);
  const timer = setTimeout(() => connection.fail(timedOut(host, port, timeoutMs)), timeoutMs);
  try {
    await connection.authenticate(password);
    return await connection.run("list").then(
      (list) => ({ list }),
      (listFailure: RconError) => ({ list: "", listFailure }),
    );
  } finally {
    clearTimeout(timer);
    forget();
    await connection.close();
  }
}
