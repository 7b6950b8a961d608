// Runs goals one after another; one that fails is reported and does not stop the others.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bench, Goal, Options } from "./bench.ts";
import { startChild } from "./child.ts";
import { type Fixture, startFixture } from "./fixture.ts";
import { peerTable } from "./peer.ts";
import { watchOutsiders } from "./process-stats.ts";
import { line, type Row, table } from "./report.ts";
import type { BenchStack } from "./stack.ts";
import { startStackArena } from "./stack.ts";

type Outcome = { rows: Row[]; failed: string[] };

/** A part that is started when it is first asked for and ended once. */
function lazily<T extends { stop: () => Promise<void> }>(start: () => Promise<T>) {
  let started: Promise<T> | undefined;
  return {
    get: () => {
      started ??= start().catch((error: unknown) => {
        started = undefined;
        throw error;
      });
      return started;
    },
    end: async () => {
      const running = await started?.catch(() => undefined);
      started = undefined;
      await running?.stop();
    },
  };
}

/** Runs the goals and prints each row as it comes, then the tables. */
export async function runGoals(goals: readonly Goal[], options: Options): Promise<Outcome> {
  const logDir = mkdtempSync(join(tmpdir(), "svc-bench-load-"));
  const load = await startChild("load/main.ts", { logDir });
  const fixture = lazily<Fixture>(() => startFixture(options.profileDir));
  const stack = lazily<BenchStack>(() => startStackArena(bench));
  const say = (text: string) => console.log(text);
  const windowMs = options.isQuick ? 1_000 : 3_000;
  const bench: Bench = {
    options,
    detached: new Set(),
    windowMs,
    load,
    say,
    fixture: async () => {
      await stack.end();
      return fixture.get();
    },
    // The fixture would only take memory and cores from the stack.
    stack: async () => {
      await fixture.end();
      return stack.get();
    },
  };
  const outcome: Outcome = { rows: [], failed: [] };
  const interrupted = () => process.exit(130);
  process.once("SIGINT", interrupted);
  try {
    for (const goal of goals) {
      if (await runGoal(goal, bench, outcome)) continue;
      // Nobody knows in what state it left them.
      await fixture.end();
      await stack.end();
    }
  } finally {
    await fixture.end();
    await stack.end();
    await load.stop();
    rmSync(logDir, { recursive: true, force: true });
    process.off("SIGINT", interrupted);
  }
  say(`\n${table(outcome.rows)}`);
  const compared = peerTable(outcome.rows);
  if (compared !== undefined) say(`\nAgainst the peer:\n\n${compared}`);
  if (outcome.failed.length > 0) say(`\ncould not run: ${outcome.failed.join(", ")}`);
  return outcome;
}

async function runGoal(goal: Goal, bench: Bench, outcome: Outcome): Promise<boolean> {
  bench.say(`\n${goal.name}: ${goal.title}`);
  const outsiders = watchOutsiders(() => [process.pid, ...bench.detached]);
  try {
    const rows = await goal.run(bench);
    const cores = goal.startsUnknown ? 0 : outsiders();
    for (const row of rows) {
      const received = { ...row, outsiders: cores };
      outcome.rows.push(received);
      bench.say(line(received));
    }
    return true;
  } catch (error) {
    outcome.failed.push(goal.name);
    bench.say(`${goal.name} could not run: ${error instanceof Error ? error.stack : String(error)}`);
    return false;
  }
}
