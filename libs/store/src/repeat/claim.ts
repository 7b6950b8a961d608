// The claim of a request that may be repeated: made in the transaction of its first write (ADR 0014).

import { AsyncLocalStorage } from "node:async_hooks";
import { Fault } from "@svc/proto";
import { type QueryExecutorProvider, sql } from "kysely";

export type Claim = {
  /** sha-256 of the request's id. */
  key: Buffer;
  /** `made` once its transaction is committed; `taken` when another run of the same request was first; `over` when the run ended without a write. */
  state: "none" | "pending" | "made" | "taken" | "over";
  isRepeat: boolean;
  /** Unix milliseconds after which the caller no longer waits for the outcome, so that nothing may be changed. */
  deadlineAt: number;
};

const current = new AsyncLocalStorage<Claim>();

export function withClaim<T>(claim: Claim, run: () => Promise<T>): Promise<T> {
  return current.run(claim, run);
}

type Query = (text: string, values?: unknown[]) => Promise<{ rowCount: number | null }>;

const insert = "insert into handled_requests (id) values ($1) on conflict do nothing";
const writes = /^\s*(insert|update|delete|merge|truncate)\b|^\s*with\b[\s\S]*\b(insert|update|delete)\b/i;
/** A repeat waits this long for an open transaction of the first run. */
const lockTimeout = "select set_config('lock_timeout', $1, true)";
const lockTimeoutMs = 1_500;
const lockNotAvailable = "55P03";

// The first run holds its transaction open: it may hang, and may still end it.
function asBusy(error: unknown): never {
  if (error instanceof Error && "code" in error && error.code === lockNotAvailable)
    throw new Fault("unavailable", { cause: error });
  throw error;
}

/**
 * Wraps the statements of one connection: the first transaction of the running request, or its first write outside
 * of one, makes the claim as well. Throws when another run of the request has made it, and instead of committing after
 * the request's deadline.
 */
export function withClaims(query: Query): Query {
  let isOpen = false;
  let holds: Claim | undefined;

  // Its caller was told that the change failed.
  const assertInTime = ({ deadlineAt }: Claim) => {
    if (Date.now() >= deadlineAt) throw new Fault("unavailable");
  };
  const make = async (claim: Claim) => {
    assertInTime(claim);
    claim.state = "pending";
    holds = claim;
    if (claim.isRepeat) await query(lockTimeout, [String(lockTimeoutMs)]);
    const { rowCount } = await query(insert, [claim.key]).catch(asBusy);
    if (rowCount === 0) {
      claim.state = "taken";
      throw new Fault("unavailable", { message: "The same request is already being handled." });
    }
    if (claim.isRepeat) await query(lockTimeout, ["0"]);
  };
  const settle = (state: "none" | "made") => {
    isOpen = false;
    if (holds?.state === "pending") holds.state = state;
    holds = undefined;
  };
  // The caller of a transaction that could not begin does not end it.
  const rollBack = async (error: unknown) => {
    settle("none");
    await query("rollback").catch(() => {});
    throw error;
  };
  const alone = async (claim: Claim, text: string, values?: unknown[]) => {
    await query("begin");
    try {
      await make(claim);
      const result = await query(text, values);
      assertInTime(claim);
      await query("commit");
      settle("made");
      return result;
    } catch (error) {
      return rollBack(error);
    }
  };

  return async (text, values) => {
    const claim = current.getStore();
    if (/^(begin|start transaction)\b/.test(text)) {
      const result = await query(text, values);
      isOpen = true;
      if (claim?.state === "none") await make(claim).catch(rollBack);
      return result;
    }
    if (text === "commit" || text === "rollback") {
      try {
        if (text === "commit" && holds) assertInTime(holds);
        const result = await query(text, values);
        settle(text === "commit" ? "made" : "none");
        return result;
      } catch (error) {
        return rollBack(error);
      }
    }
    if (!isOpen && claim?.state === "none" && writes.test(text)) return alone(claim, text, values);
    return query(text, values);
  };
}

/**
 * Makes the claim of the running request now, before an effect that no transaction of this database holds: after it a
 * repeat has no effect of its own. Does nothing when the request cannot be repeated.
 */
export async function claimRequest(db: QueryExecutorProvider): Promise<void> {
  if (current.getStore()?.state === "none") await sql`delete from handled_requests where false`.execute(db);
}
