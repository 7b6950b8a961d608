// One transfer from a Job to a browser: the Job's body is not read before the browser is connected, and then at its pace.
// The last chunk is withheld until size and digest are verified, so that a damaged download never looks complete.

import { createHash } from "node:crypto";
import { readDigest, releaseChunk, type UploadHead } from "@svc/mesh";
import { Fault } from "@svc/proto";
import { untilAborted } from "../transfer/until-aborted.ts";

export type RelayOptions = {
  /** Size and digest of the backup's record. */
  expected?: { size: number; sha256: string } | undefined;
  /** Length the Job declared. */
  length?: number | undefined;
  /** How long the Job's body waits for the browser. */
  waitMs: number;
  /** How long the browser waits for the Job's body: its gateway may have died before the body arrived. */
  bodyMs: number;
  /** Aborts the transfer for both sides; what was sent does not look complete. */
  signal?: AbortSignal;
  /** Called when the browser did not connect. Resolves false when it has just done so. */
  onWaited: () => Promise<boolean>;
};

export type Relay = {
  /** The browser's side: bytes, or an error that aborts the download. */
  source: (signal: AbortSignal) => AsyncGenerator<Uint8Array>;
  /** The Job's side: resolves when the browser has everything. Throws `export_expired` or `backup_corrupt`. */
  receive: (body: AsyncIterable<Uint8Array>, head: UploadHead, signal: AbortSignal) => Promise<null>;
};

type Arrived = { body: AsyncIterable<Uint8Array>; head: UploadHead };

const expired = () => new Fault("export_expired");

export function createRelay(options: RelayOptions): Relay {
  const job = Promise.withResolvers<Arrived>();
  const browser = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  for (const one of [job.promise, browser.promise, ended.promise]) one.catch(() => {});
  options.signal?.addEventListener("abort", () => ended.reject(expired()), { once: true });

  const source = async function* (signal: AbortSignal): AsyncGenerator<Uint8Array> {
    browser.resolve();
    try {
      const leave = () => job.reject(expired());
      signal.addEventListener("abort", leave, { once: true });
      if (!(await settlesWithin(job.promise, options.bodyMs))) throw expired();
      const arrived = await job.promise;
      yield* withholdTail(arrived, options);
      ended.resolve();
    } catch (error) {
      const reason = options.signal?.aborted ? expired() : error;
      ended.reject(reason);
      throw reason;
    } finally {
      // A browser that disconnects early ends the generator here.
      ended.reject(expired());
    }
  };
  const receive: Relay["receive"] = async (body, head, signal) => {
    signal.addEventListener("abort", () => ended.reject(expired()), { once: true });
    job.resolve({ body, head });
    // A connection that closes while the body waits ends the wait.
    await waitForBrowser(Promise.race([browser.promise, ended.promise]), options);
    await ended.promise;
    return null;
  };
  return { source, receive };
}

// Waits for the browser; once more when the ticket was claimed at the last moment.
async function waitForBrowser(browser: Promise<void>, { waitMs, onWaited }: RelayOptions): Promise<void> {
  if (await settlesWithin(browser, waitMs)) return;
  if (!(await onWaited()) && (await settlesWithin(browser, waitMs))) return;
  throw expired();
}

async function settlesWithin(wanted: Promise<unknown>, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), ms);
  try {
    return await Promise.race([wanted.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function* withholdTail({ body, head }: Arrived, options: RelayOptions): AsyncGenerator<Uint8Array> {
  const { expected, length, signal } = options;
  const hash = createHash("sha256");
  let received = 0;
  let held: Uint8Array | undefined;
  // The Job's request may stand still after its answer was sent, and never end by itself.
  for await (const chunk of signal ? untilAborted(body, signal) : body) {
    if (chunk.length === 0) continue;
    received += chunk.length;
    if (expected && received > expected.size) throw new Fault("backup_corrupt");
    if (length !== undefined && received > length) throw expired();
    hash.update(chunk);
    if (held) {
      yield held;
      releaseChunk(held);
    }
    held = chunk;
  }
  verify({ received, sha256: hash.digest("hex"), declared: digestIn(head) }, options);
  if (held) yield held;
}

function digestIn({ trailerDigest }: UploadHead): string | undefined {
  try {
    return readDigest(trailerDigest());
  } catch {
    return undefined;
  }
}

type Arrival = { received: number; sha256: string; declared: string | undefined };

function verify({ received, sha256, declared }: Arrival, { expected, length }: RelayOptions): void {
  // A body that ends without its digest was cut off.
  if (declared !== sha256) throw expired();
  if (length !== undefined && received !== length) throw expired();
  if (!expected) return;
  if (received !== expected.size || sha256 !== expected.sha256) throw new Fault("backup_corrupt");
}
