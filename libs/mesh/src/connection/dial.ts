// Opens the connection and rejects servers that are too old (docs/reference/mesh.md#subjects).

import { setTimeout as delay } from "node:timers/promises";
import { connect, errors, type NatsConnection } from "@nats-io/transport-node";
import { inboxPrefix, isSupportedNats, supportedNats } from "@svc/proto";
import type { MeshOptions } from "../api.ts";

const apiLevelFloor = 1;
type DialOptions = Pick<MeshOptions, "url" | "user" | "password" | "log" | "signal"> & {
  service: string;
};

const firstRetryMs = 100;
const lastRetryMs = 2_000;
const logEveryMs = 10_000;

/**
 * Dials until it succeeds or `options.signal` aborts; afterwards the client reconnects forever. Throws an Error
 * with one sentence for a rejected user, a server that is too old, or a server without JetStream.
 */
export async function dial(options: DialOptions): Promise<NatsConnection> {
  const connection = await dialUntilUp(options);
  try {
    checkVersion(connection, options);
    await checkJetStream(connection, options);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function dialUntilUp(options: DialOptions): Promise<NatsConnection> {
  let waitMs = firstRetryMs;
  let loggedAt = 0;
  for (;;) {
    try {
      options.signal?.throwIfAborted();
      return await connect(clientOptions(options));
    } catch (error) {
      if (options.signal?.aborted) throw unreachable(options, error);
      if (isAuthorizationError(error)) throw rejectedUser(options);
      if (Date.now() - loggedAt > logEveryMs) {
        loggedAt = Date.now();
        options.log.warn(
          { url: shownUrl(options.url), error: textOf(error) },
          "NATS is not reachable; retrying",
        );
      }
    }
    await delay(waitMs, undefined, options.signal ? { signal: options.signal } : {}).catch(() => {});
    waitMs = Math.min(waitMs * 2, lastRetryMs);
  }
}

function clientOptions(options: DialOptions) {
  return {
    servers: options.url.split(",").map((one) => one.trim()),
    user: options.user,
    pass: options.password,
    name: `svc-${options.service}`,
    inboxPrefix: inboxPrefix(options.service),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 200,
    reconnectJitter: 100,
    // A password that is wrong for a moment, while the server reloads its configuration, must not end the process.
    ignoreAuthErrorAbort: true,
    pingInterval: 10_000,
    maxPingOut: 2,
    timeout: 5_000,
    noAsyncTraces: true,
    ignoreClusterUpdates: true,
  };
}

function isAuthorizationError(error: unknown): boolean {
  if (error instanceof errors.AuthorizationError) return true;
  return error instanceof Error && error.cause instanceof errors.AuthorizationError;
}

function rejectedUser(options: DialOptions): Error {
  return new Error(
    `NATS at ${shownUrl(options.url)} rejected the user "${options.user}": the user is unknown or the password is wrong; check the NATS user and password of this service.`,
  );
}

function unreachable(options: DialOptions, error: unknown): Error {
  return new Error(
    `NATS at ${shownUrl(options.url)} could not be reached: ${textOf(error)}. Start it or correct the NATS URL.`,
    { cause: error },
  );
}

function checkVersion(connection: NatsConnection, options: DialOptions): void {
  const version = connection.info?.version ?? "unknown";
  if (isSupportedNats(version)) return;
  throw new Error(`NATS at ${shownUrl(options.url)} is nats-server ${version}; svc needs ${supportedNats}.`);
}

type AccountInfo = { api?: { level?: number }; error?: { description: string; err_code?: number } };

/** "JetStream system temporarily unavailable" */
const leaderless = 10_008;
const electedWithinMs = 20_000;

async function checkJetStream(connection: NatsConnection, options: DialOptions): Promise<void> {
  const where = `NATS at ${shownUrl(options.url)}`;
  const enable = "start nats-server with JetStream (-js, or a jetstream block in its configuration)";
  let info: AccountInfo;
  try {
    info = await askJetStream(connection, options.signal);
  } catch (error) {
    throw new Error(`${where} does not answer JetStream requests (${textOf(error)}); ${enable}.`, {
      cause: error,
    });
  }
  if (info.error)
    throw new Error(`${where} rejects JetStream requests (${info.error.description}); ${enable}.`);
  if ((info.api?.level ?? 0) >= apiLevelFloor) return;
  throw new Error(
    `${where} has JetStream API level ${info.api?.level ?? 0}; svc needs ${apiLevelFloor} (nats-server 2.11).`,
  );
}

// In a cluster only the leader answers, and after a server died there is none for some seconds.
async function askJetStream(
  connection: NatsConnection,
  signal: AbortSignal | undefined,
): Promise<AccountInfo> {
  const until = Date.now() + electedWithinMs;
  for (;;) {
    const timeout = connection.info?.cluster === undefined ? 5_000 : 1_000;
    try {
      const info = (await connection.request("$JS.API.INFO", "", { timeout })).json<AccountInfo>();
      if (info.error?.err_code !== leaderless || Date.now() > until) return info;
    } catch (error) {
      const isElecting = connection.info?.cluster !== undefined && error instanceof errors.TimeoutError;
      if (!isElecting || Date.now() > until) throw error;
    }
    signal?.throwIfAborted();
    await delay(firstRetryMs);
  }
}

/** The URL without credentials, for messages. */
function shownUrl(url: string): string {
  return url.replaceAll(/\/\/[^@/,]*@/g, "//");
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || error.name;
}
