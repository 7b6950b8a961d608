// What load on a stack came to: its figures, and whether every change that was answered is there exactly once.

import assert from "node:assert/strict";
import { until } from "@svc/local-stack/testing";
import pg from "pg";
import type { StackFixture } from "../security/stack-fixture.ts";
import { isSuccess, type Load, type Outcome } from "./load.ts";

export const outcomesOf = (load: Load, kind: Outcome["kind"]): Outcome[] =>
  load.outcomes.filter((one) => one.kind === kind);

/** Milliseconds. */
export function timesOf(outcomes: readonly Outcome[]): { p50: number; p99: number; max: number } {
  const sorted = outcomes.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share: number) =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** The lines that the benches read. */
export function tell(say: (line: string) => void, load: Load): void {
  for (const kind of ["read", "change"] as const) {
    const all = outcomesOf(load, kind);
    const { p50, p99, max } = timesOf(all);
    say(
      `${kind}s: ${all.filter(isSuccess).length} of ${all.length}, p50 ${p50} ms, p99 ${p99} ms, max ${max} ms`,
    );
  }
  for (const { what, status, sentAt, ms } of load.outcomes.filter((one) => !isSuccess(one)))
    say(`${what}: ${status} after ${Math.round(ms)} ms, sent at ${Math.round(sentAt - load.startedAt)} ms`);
}

async function userNames(url: string): Promise<Set<string>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ username: string }>("select username from identity.users");
    return new Set(rows.map(({ username }) => username));
  } finally {
    await client.end();
  }
}

const answeredWell = (load: Load, what: string): number =>
  outcomesOf(load, "change").filter((one) => one.what === what && isSuccess(one)).length;

/** Every change that was answered well is there, and none is there twice; `server` is the one that players joined. */
export async function assertChanges({ stack }: StackFixture, load: Load, server: string): Promise<void> {
  const conflicts = load.outcomes.filter(({ what, status }) => what === "create user" && status === 409);
  assert.deepEqual(conflicts, [], "a repeat met its own change");
  const made = await userNames(stack.file().database_url);
  const there = load.users.filter((username) => made.has(username)).length;
  const created = answeredWell(load, "create user");
  assert.ok(there >= created, `${created} users were created, ${there} are there`);
  const joined = answeredWell(load, "join");
  const counts = new Map<string, number>();
  await until(
    async () => {
      const subject = `svc.evt.lifecycle.server.player-joined.${server}`;
      const events = await stack.svc("events", subject, "--since", "1h", "--no-follow", "--json");
      counts.clear();
      for (const line of events.stdout.trim().split("\n").filter(Boolean)) {
        const { mc_uuid } = (JSON.parse(line) as { data: { mc_uuid: string } }).data;
        counts.set(mc_uuid, (counts.get(mc_uuid) ?? 0) + 1);
      }
      return load.players.filter((player) => counts.has(player)).length >= joined;
    },
    60_000,
    "every join to be told of",
  );
  const doubled = load.players.filter((player) => (counts.get(player) ?? 0) > 1);
  assert.deepEqual(doubled, [], "joins were told of twice");
}
