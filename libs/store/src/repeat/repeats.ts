// A repeat of a request is answered with the outcome of the first one (ADR 0014).

import { createCipheriv, createDecipheriv, hash, randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { Fault } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import { type QueryExecutorProvider, sql } from "kysely";
import { type Claim, withClaim } from "./claim.ts";

/** One run of a request: `id` is known to its caller and its owner alone. */
type RequestRun = { id: string; isRepeat: boolean; deadlineAt: number };

export type Repeats = {
  /**
   * Runs a request and remembers what came of it, or answers what came of it before. `run` never rejects: a refusal is
   * an outcome too. Rejects with `unavailable` while the first run has no outcome yet.
   */
  once: (request: RequestRun, run: () => Promise<Uint8Array>) => Promise<Uint8Array>;
  close: () => Promise<void>;
};

const pollMs = 50;
const waitMs = 1_500;
const keptMinutes = 10;
const pruneMs = 60_000;
const prunedAtOnce = 10_000;
/** Larger outcomes are not remembered; a repeat of theirs is refused. */
const largestOutcome = 65_536;

/** Requires the table `handled_requests` in the schema. */
export function createRepeats(store: { db: QueryExecutorProvider }, log: Logger): Repeats {
  const { db } = store;
  const writing = new Set<Promise<unknown>>();
  const later = (work: Promise<unknown>) => {
    const quiet = work
      .catch((error: Error) => log.warn({ error: error.message }, "storing request outcomes failed"))
      .finally(() => writing.delete(quiet));
    writing.add(quiet);
  };
  const pruning = setInterval(() => later(prune(db)), pruneMs);
  pruning.unref();

  const remember = (claim: Claim, id: string, outcome: Uint8Array) => {
    if (outcome.length > largestOutcome) return;
    const sealed = seal(id, outcome);
    later(sql`update handled_requests set outcome = ${sealed} where id = ${claim.key}`.execute(db));
  };

  return {
    once: async (request, run) => {
      const { id, isRepeat, deadlineAt } = request;
      const key = hash("sha256", id, "buffer");
      if (isRepeat) {
        const known = await outcomeOf(db, key, id);
        if (known) return known;
      }
      const claim: Claim = { key, state: "none", isRepeat, deadlineAt };
      const outcome = await withClaim(claim, run);
      const hasNoClaim = claim.state === "none" || claim.state === "pending";
      if (hasNoClaim) claim.state = "over";
      if (claim.state === "made") remember(claim, id, outcome);
      // Without a claim the run met what the other one had done: its answer counts, not ours.
      if (claim.state === "taken" || (isRepeat && hasNoClaim))
        return (await outcomeOf(db, key, id)) ?? outcome;
      return outcome;
    },
    close: async () => {
      clearInterval(pruning);
      await Promise.all(writing);
    },
  };
}

// Undefined when no run has made the claim.
async function outcomeOf(
  db: QueryExecutorProvider,
  key: Buffer,
  id: string,
): Promise<Uint8Array | undefined> {
  const endAt = performance.now() + waitMs;
  for (;;) {
    const found = sql<{ outcome: Buffer | null }>`select outcome from handled_requests where id = ${key}`;
    const [row] = (await found.execute(db)).rows;
    if (!row) return undefined;
    if (row.outcome) return unseal(id, row.outcome);
    if (performance.now() >= endAt) {
      const message =
        "The request was begun by a replica that no longer answers; look before you send it again.";
      throw new Fault("unavailable", { message });
    }
    await delay(pollMs);
  }
}

/** Removes what no caller can repeat any more. */
export async function prune(db: QueryExecutorProvider): Promise<void> {
  await sql`delete from handled_requests where id in (
    select id from handled_requests where claimed_at < now() - ${`${keptMinutes} minutes`}::interval
    order by claimed_at limit ${prunedAtOnce})`.execute(db);
}

// Outcomes hold cookies and codes that are stored as hashes otherwise, so only the id, which is stored nowhere, opens them.
function seal(id: string, outcome: Uint8Array): Buffer {
  const iv = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", keyOf(id), iv);
  return Buffer.concat([iv, cipher.update(outcome), cipher.final(), cipher.getAuthTag()]);
}

function unseal(id: string, sealed: Buffer): Uint8Array {
  const decipher = createDecipheriv("aes-256-gcm", keyOf(id), sealed.subarray(0, 12));
  decipher.setAuthTag(sealed.subarray(-16));
  return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]);
}

function keyOf(id: string): Buffer {
  return hash("sha256", `outcome ${id}`, "buffer");
}
