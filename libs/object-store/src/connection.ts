// Sends single requests: retries, deadlines, plain words.

import type { Agent } from "node:http";
import type { Agent as SecureAgent } from "node:https";
import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { S3Client } from "@aws-sdk/client-s3";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { ObjectStoreError } from "./error.ts";
import { explain, isClockCorrected, statusOf } from "./explain.ts";
import { createRateLimit, type RateLimit } from "./rate-limit.ts";
import { defaultTiming, pauseAfter, timeFor } from "./timing.ts";
import type { ObjectStoreOptions, Timing } from "./types.ts";

/** Pauses; rejects when the signal is aborted. */
export const sleep = (ms: number, signal: AbortSignal): Promise<void> => wait(ms, undefined, { signal });

export type Connection = {
  client: S3Client;
  bucket: string;
  timing: Timing;
  uploadRate: number;
  rateLimit: RateLimit | undefined;
  /** The key in the bucket. */
  fullKey: (key: string) => string;
  /** The key without the prefix; throws `malformed` for a key that does not have it. */
  ownKey: (fullKey: string) => string;
  /**
   * Makes one call, again after failures that can pass, as long as `signal` lives. `bytes` are those that travel; they
   * decide how long an attempt may take.
   */
  call: <T>(operation: string, options: CallOptions, send: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  explain: (operation: string, error: unknown) => ObjectStoreError;
  clockOffsetMs: () => number;
  /** Whether every request was sent to its last byte and answered. */
  isIdle: () => boolean;
};

type CallOptions = {
  signal?: AbortSignal | undefined;
  bytes?: number;
  /** Answers that are not failures, such as a 404 of a key. */
  expect?: (error: unknown) => boolean;
};

export function connect(options: ObjectStoreOptions): Connection {
  const timing = { ...defaultTiming, ...options.timing };
  const { bucket, uploadRate = 0 } = options;
  const endpoint = options.endpoint ?? `AWS (${options.region})`;
  const agents = createAgents();
  const client = createClient(options, timing, agents);
  const prefix = options.prefix === "" ? "" : `${options.prefix.replace(/\/+$/, "")}/`;
  const describe = (operation: string, error: unknown) =>
    explain(error, { operation, bucket, endpoint, now: Date.now() });
  return {
    client,
    bucket,
    timing,
    uploadRate,
    rateLimit:
      uploadRate > 0 ? createRateLimit(uploadRate, { now: () => performance.now(), sleep }) : undefined,
    fullKey: (key) => `${prefix}${checkKey(key)}`,
    ownKey(fullKey) {
      if (!fullKey.startsWith(prefix))
        throw new ObjectStoreError("malformed", `${endpoint} listed ${fullKey}, which nobody asked for`);
      return fullKey.slice(prefix.length);
    },
    call: createCall({ timing, uploadRate, describe, onRequest: options.onRequest }),
    explain: describe,
    clockOffsetMs: () => client.config.systemClockOffset,
    isIdle: () => Object.values(agents).every(({ sockets }) => Object.keys(sockets).length === 0),
  };
}

type Agents = { httpAgent: Agent; httpsAgent: SecureAgent };

function createAgents(): Agents {
  const options = { keepAlive: true, maxSockets: 16 };
  const [http, https] = [process.getBuiltinModule("node:http"), process.getBuiltinModule("node:https")];
  return { httpAgent: new http.Agent(options), httpsAgent: new https.Agent(options) };
}

function createClient(options: ObjectStoreOptions, timing: Timing, agents: Agents): S3Client {
  const { endpoint, region, pathStyle, accessKey, secretKey } = options;
  return new S3Client({
    ...(endpoint !== undefined && { endpoint }),
    region,
    forcePathStyle: pathStyle,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
    // Trailing checksums are not understood by every store; the signature covers the digest of each body.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    // We repeat requests ourselves: as Retry-After asks, and with a body that can be sent twice.
    maxAttempts: 1,
    // A bucket of another region would be found by asking somebody else.
    followRegionRedirects: false,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: timing.connectMs,
      ...agents,
    }),
  });
}

function checkKey(key: string): string {
  const isOdd =
    key === "" || key.startsWith("/") || key.split("/").some((part) => part === "." || part === "..");
  if (isOdd || Buffer.byteLength(key) > 900)
    throw new ObjectStoreError("rejected", `${key} is not a valid key`);
  return key;
}

type Calls = {
  timing: Timing;
  uploadRate: number;
  describe: (operation: string, error: unknown) => ObjectStoreError;
  onRequest: ObjectStoreOptions["onRequest"];
};

const never = new AbortController().signal;

function createCall({ timing, uploadRate, describe, onRequest }: Calls): Connection["call"] {
  return async (operation, { signal = never, bytes = 0, expect }, send) => {
    const attemptMs = timeFor(bytes, { graceMs: timing.requestGraceMs, minRate: timing.minRate, uploadRate });
    let isClockSet = false;
    for (let failed = 1; ; failed += 1) {
      const startedAt = performance.now();
      const report = (event: { status: number; problem?: string; retryInMs?: number }) =>
        onRequest?.({ operation, durationMs: performance.now() - startedAt, ...event });
      const attempt = limitTime(signal, attemptMs);
      try {
        const answer = await send(attempt.signal);
        report({
          status: (answer as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode ?? 200,
        });
        return answer;
      } catch (error) {
        if (expect?.(error)) {
          report({ status: statusOf(error) });
          throw error;
        }
        signal.throwIfAborted();
        const failure = attempt.isOver()
          ? new ObjectStoreError(
              "unavailable",
              `${operation} took longer than ${Math.ceil(attemptMs / 1_000)} s`,
            )
          : describe(operation, error);
        const about = { status: statusOf(error), problem: failure.problem };
        // A head has no body that would say "clock".
        if (isClockCorrected(error) && !isClockSet) {
          isClockSet = true;
          report({ ...about, retryInMs: 0 });
          continue;
        }
        const { retryAfterMs } = failure;
        const pause =
          failure.problem === "unavailable"
            ? pauseAfter(failed, { retryAfterMs, spread: Math.random(), timing })
            : undefined;
        report({ ...about, ...(pause !== undefined && { retryInMs: pause }) });
        if (pause === undefined) throw failure;
        await sleep(pause, signal);
      } finally {
        attempt.end();
      }
    }
  };
}

/** A signal that is aborted with another one, or after a time. */
function limitTime(outer: AbortSignal, ms: number) {
  const controller = new AbortController();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    controller.abort();
  }, ms);
  const follow = () => controller.abort(outer.reason);
  if (outer.aborted) follow();
  outer.addEventListener("abort", follow, { once: true });
  return {
    signal: controller.signal,
    isOver: () => isOver,
    end() {
      clearTimeout(timer);
      outer.removeEventListener("abort", follow);
    },
  };
}
