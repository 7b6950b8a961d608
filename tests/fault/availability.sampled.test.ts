// What callers notice while one of two replicas is killed or hangs: 20 requests a second, reads and changes (ADR 0014).

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isWhole } from "@svc/config/testing";
import { patience, until } from "@svc/local-stack/testing";
import pg from "pg";
import { type StackFixture, startStackFixture } from "../security/stack-fixture.ts";
import { isSuccess, type Load, type Outcome, startLoad } from "./load.ts";
import { freeze, pidOf } from "./processes.ts";

const name = "steady";
const hangMs = 20_000;
/** How long load goes on before and after. */
const calmMs = 3_000;
const limits = { killedReadMs: 1_500, hungReadMs: 1_500, changeMs: 3_000 };

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

describe("one of two replicas", { skip: isWhole ? false : "npm test -- --whole runs it" }, () => {
  let opened: StackFixture | undefined;
  const fixture = (): StackFixture => {
    assert.ok(opened, "the stack did not start");
    return opened;
  };
  before(async () => {
    const replicas = ["lifecycle", "identity"].flatMap((service) => ["--replicas", `${service}=2`]);
    opened = await startStackFixture([...replicas, "--set", "gateway.session_cache=1ms"]);
    assert.equal((await opened.redeem()).status, 200);
    await opened.leaveSetup();
    const json = { name, subdomain: name, autostartPolicy: "public" };
    const created = await opened.asOwner({ method: "POST", path: "/api/v1/servers", json });
    assert.equal(created.status, 201, created.text);
  });
  after(() => opened?.stop());

  const span = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

  /** Load around a fault. Ends with everything answered. */
  async function under(fault: () => Promise<void>): Promise<Load> {
    const load = startLoad(fixture(), name);
    try {
      await span(calmMs);
      await fault();
      await span(calmMs);
    } finally {
      await load.end();
    }
    return load;
  }

  const of = (load: Load, kind: Outcome["kind"]) => load.outcomes.filter((one) => one.kind === kind);
  function timesOf(outcomes: readonly Outcome[]): { p50: number; p99: number; max: number } {
    const sorted = outcomes.map(({ ms }) => ms).sort((a, b) => a - b);
    const at = (share: number) =>
      Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
    return { p50: at(0.5), p99: at(0.99), max: at(1) };
  }

  function tell(say: (line: string) => void, load: Load): void {
    for (const kind of ["read", "change"] as const) {
      const all = of(load, kind);
      const { p50, p99, max } = timesOf(all);
      say(
        `${kind}s: ${all.filter(isSuccess).length} of ${all.length}, p50 ${p50} ms, p99 ${p99} ms, max ${max} ms`,
      );
    }
    for (const { what, status, sentAt, ms } of load.outcomes.filter((one) => !isSuccess(one)))
      say(`${what}: ${status} after ${Math.round(ms)} ms, sent at ${Math.round(sentAt - load.startedAt)} ms`);
  }

  /** Every change that was answered well is there, and none is there twice. */
  async function assertChanges(load: Load): Promise<void> {
    const conflicts = load.outcomes.filter(({ what, status }) => what === "create user" && status === 409);
    assert.deepEqual(conflicts, [], "a repeat met its own change");
    const made = await userNames(fixture().stack.file().database_url);
    const created = of(load, "change").filter((one) => one.what === "create user" && isSuccess(one)).length;
    const there = load.users.filter((username) => made.has(username)).length;
    assert.ok(there >= created, `${created} users were created, ${there} are there`);
    const joined = of(load, "change").filter((one) => one.what === "join" && isSuccess(one)).length;
    const counts = new Map<string, number>();
    await until(
      async () => {
        const subject = `svc.evt.lifecycle.server.player-joined.${name}`;
        const events = await fixture().stack.svc("events", subject, "--since", "1h", "--no-follow", "--json");
        counts.clear();
        for (const line of events.stdout.trim().split("\n").filter(Boolean)) {
          const { mc_uuid } = (JSON.parse(line) as { data: { mc_uuid: string } }).data;
          counts.set(mc_uuid, (counts.get(mc_uuid) ?? 0) + 1);
        }
        return load.players.filter((player) => counts.has(player)).length >= joined;
      },
      30_000,
      "every join to be told of",
    );
    const doubled = load.players.filter((player) => (counts.get(player) ?? 0) > 1);
    assert.deepEqual(doubled, [], "joins were told of twice");
  }

  for (const victim of ["identity-2", "lifecycle-2"]) {
    test(`${victim} is killed: every read is answered, no change is lost or doubled`, async (context) => {
      const load = await under(async () => {
        const pid = pidOf(fixture().stack, victim);
        process.kill(pid, "SIGKILL");
        await until(() => pidOf(fixture().stack, victim) !== pid, 30_000, `${victim} to be started again`);
      });
      tell((line) => context.diagnostic(line), load);
      assert.deepEqual(
        of(load, "read").filter((one) => !isSuccess(one)),
        [],
      );
      assert.ok(timesOf(of(load, "read")).max <= limits.killedReadMs * patience);
      assert.ok(timesOf(of(load, "change")).p99 <= limits.changeMs * patience);
      await assertChanges(load);
    });

    test(`${victim} hangs for 20 s: 99.9 % of reads are answered, no change is lost or doubled`, async (context) => {
      const load = await under(async () => {
        const thaw = freeze(fixture().stack, victim);
        await span(hangMs);
        thaw();
      });
      tell((line) => context.diagnostic(line), load);
      const reads = of(load, "read");
      assert.ok(reads.filter(isSuccess).length >= reads.length * 0.999);
      assert.ok(timesOf(reads).p99 <= limits.hungReadMs * patience);
      assert.ok(timesOf(of(load, "change")).p99 <= limits.changeMs * patience);
      await assertChanges(load);
    });
  }
});
