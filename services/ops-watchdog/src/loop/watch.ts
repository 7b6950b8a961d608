// Starts a run every two minutes in a process of its own, whatever else of this one works
// (docs/reference/alerts.md#runs): it begins before the database and NATS are there.

import { setTimeout as delay } from "node:timers/promises";
import { startLoop } from "@svc/service/loop";
import type { Logger } from "@svc/telemetry";
import type pg from "pg";
import { connect } from "../bundle/snapshot.ts";
import type { RunProgram } from "./run-program.ts";

/** A run takes no longer. */
const runWithinMs = 180_000;
const answerWithinMs = 5_000;

type LoopDeps = {
  settings: { watch_every: number; watch_first: number };
  databaseUrl: string;
  run: RunProgram;
  log: Logger;
};

export function startWatchLoop(deps: LoopDeps): { close: () => Promise<void> } {
  const { settings, log } = deps;
  if (settings.watch_every === 0) return { close: async () => {} };
  const turn = createTurn(deps.databaseUrl);
  const round = async (signal: AbortSignal) => {
    if (await turn.isMine()) await watchOnce(deps, signal);
  };
  const loop = startLoop(round, {
    firstMs: settings.watch_first,
    everyMs: settings.watch_every,
    onError: (error) => log.error({ error: error.message }, "watchdog cannot record its failure"),
  });
  return {
    close: async () => {
      await loop.close();
      await turn.close();
    },
  };
}

/** One run; one that fails is recorded by a second program, which looks at nothing. */
export async function watchOnce(
  { run, log }: Pick<LoopDeps, "run" | "log">,
  signal: AbortSignal,
): Promise<void> {
  const limited = () => AbortSignal.any([signal, AbortSignal.timeout(runWithinMs)]);
  try {
    await run({ do: "watch", dry_run: false }, limited());
  } catch (error) {
    if (signal.aborted) return;
    const { name, message } = error as Error;
    const isLate = name === "AbortError" || name === "TimeoutError";
    const reason = isLate ? `a run took longer than ${runWithinMs / 1_000} s` : message.slice(0, 500);
    log.warn({ error: reason }, "watchdog run failed");
    await run({ do: "record-failed-watch", reason }, limited());
  }
}

/**
 * One replica watches: the one whose connection holds an advisory lock. Without a database every replica does, since a mail
 * that comes twice is better than none.
 */
function createTurn(url: string): { isMine: () => Promise<boolean>; close: () => Promise<void> } {
  let held: pg.Client | undefined;
  const drop = (client: pg.Client) => {
    if (held === client) held = undefined;
    // Not awaited: a server that hangs does not say goodbye.
    client.end().catch(() => undefined);
  };
  const take = async (): Promise<boolean> => {
    const client = held ?? (await connect(url, "svc-ops-watchdog-watch"));
    const text =
      held === client
        ? "select true as held"
        : "select pg_try_advisory_lock(hashtext('ops_watchdog_watch')) as held";
    const asked = client.query<{ held: boolean }>(text).catch(() => undefined);
    const answer = await Promise.race([asked, delay(answerWithinMs, undefined, { ref: false })]);
    if (!answer?.rows[0]?.held) {
      drop(client);
      return answer === undefined;
    }
    if (held === undefined) client.once("end", () => drop(client));
    held = client;
    return true;
  };
  return {
    isMine: () => take().catch(() => true),
    close: async () => {
      if (held) drop(held);
    },
  };
}
