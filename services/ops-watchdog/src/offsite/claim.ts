// Becomes or stays the writer of a bucket (docs/reference/off-site.md#writer).

import { setTimeout as delay } from "node:timers/promises";
import { isObjectStoreError, type ObjectStore } from "@svc/object-store";
import { type ClearObject, readClear, writeClear } from "./clear-object.ts";
import { writerObject } from "./object-key.ts";
import { decideWriter, type FoundWriter, parseWriter, StandbyError, type Writer } from "./writer.ts";

type ClaimDeps = {
  bucket: ObjectStore;
  host: { id: string; name: string };
  /** Whether the store keeps two writers apart; else a claim is read again after this time. */
  conditionalPut: boolean;
  settleMs: number;
  now: () => number;
  signal: AbortSignal;
};

export type Claim = {
  /** Throws `StandbyError` when another host has taken over. */
  assertHeld: () => Promise<void>;
  /** The same, and records that this host is at work. */
  renew: () => Promise<Writer>;
};

/** Throws `StandbyError` when another host is the writer; writes nothing then. */
export async function claimWriter(deps: ClaimDeps): Promise<Claim> {
  await renew(deps);
  return {
    assertHeld: () => assertWriter(deps),
    renew: () => renew(deps),
  };
}

/** Throws `StandbyError` unless this host is the writer. */
export async function assertWriter(deps: Pick<ClaimDeps, "bucket" | "host" | "signal">): Promise<void> {
  const found = await findWriter(deps);
  if (decideWriter(found, deps.host.id) !== "renew") throw new StandbyError(found);
}

/** Makes this host the writer in place of the one that was found. Throws `StandbyError` when another one was faster. */
export async function takeOver(deps: ClaimDeps): Promise<Writer> {
  return write(deps, await readClear(deps.bucket, writerObject, deps.signal));
}

export async function findWriter(deps: Pick<ClaimDeps, "bucket" | "signal">): Promise<FoundWriter> {
  return parseWriter((await readClear(deps.bucket, writerObject, deps.signal))?.text);
}

async function renew(deps: ClaimDeps): Promise<Writer> {
  const before = await readClear(deps.bucket, writerObject, deps.signal);
  const found = parseWriter(before?.text);
  if (decideWriter(found, deps.host.id) === "stand-by") throw new StandbyError(found);
  return write(deps, before);
}

async function write(deps: ClaimDeps, before: ClearObject | undefined): Promise<Writer> {
  const { bucket, host, now, signal } = deps;
  const writer = { host_id: host.id, name: host.name, last_run_at: new Date(now()).toISOString() };
  const text = `${JSON.stringify(writer)}\n`;
  if (deps.conditionalPut) {
    const only = before ? { etag: before.etag } : ("absent" as const);
    await bucket
      .putIf({ key: writerObject, bytes: Buffer.from(text), only, signal })
      .catch((error: unknown) => {
        if (!isObjectStoreError(error, "conflict")) throw error;
      });
  } else {
    await writeClear(bucket, { key: writerObject, text }, signal);
    await delay(deps.settleMs, undefined, { signal });
  }
  // An answer that was lost may have been a success; what is there decides.
  const after = await findWriter(deps);
  if (decideWriter(after, host.id) !== "renew") throw new StandbyError(after);
  return writer;
}
