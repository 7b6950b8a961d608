import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Phase } from "@svc/proto";
import { createTestDatabase, createWire, type TestDatabase, type Wire } from "@svc/store/testing";
import { type CrashStore, createCrashStore } from "../crash/store.ts";
import type { LifecycleStore, Tables } from "../database/schema.ts";
import { createServerStore } from "../server/store.ts";
import { createWorldStore } from "../world/store.ts";
import { decideSweep, gridOf, minuteMs } from "./step.ts";
import { createHistoryStore, type HistoryStore } from "./store.ts";

let database: TestDatabase;
let wire: Wire;
let store: LifecycleStore;
let history: HistoryStore;
before(async () => {
  const migrations = fileURLToPath(new URL("../../migrations", import.meta.url));
  database = await createTestDatabase({ schema: "lifecycle", migrations });
  wire = await createWire(database.url);
  store = database.open<Tables>({ url: wire.url });
  history = createHistoryStore(store);
});
after(async () => {
  await store.close();
  await wire.cut().catch(() => {});
  await database.drop();
});

const at = (text: string) => Date.parse(`2026-03-${text}Z`);
const day = 24 * 60 * minuteMs;
const adopt = (name: string) => createServerStore(store).adopt({ name, subdomain: name, offered: true });
const read = async (name: string) =>
  (await history.readServer(name, new Date(0))).sort((a, b) => a.at.getTime() - b.at.getTime());
const stepsOf = (name: string) =>
  database.admin(
    "select step_minutes, count(*)::int as steps from lifecycle.server_history where server_name = $1 group by 1 order by 1",
    [name],
  );
const changeTo = async (name: string, phases: readonly [Phase, string][]) => {
  const servers = createServerStore(store);
  for (const [to, time] of phases) {
    const known = (await servers.phaseOf(name)) ?? null;
    assert.ok(await servers.changePhase({ name, known, to, reason: to, at: new Date(at(time)) }));
  }
};

describe("samples", () => {
  test("of one step are added, and each source adds its own", async () => {
    await adopt("added");
    const usage = { memoryMib: 1_000, cpuMilli: 300 };
    await history.record(at("02T10:00:00"), [{ name: "added", players: 2, usage }]);
    await history.record(at("02T10:04:59"), [{ name: "added", players: 5 }]);
    await history.record(at("02T10:04:59"), [{ name: "added", tps: 19.5 }]);
    await history.record(at("02T10:05:00"), [{ name: "added", players: 1 }]);
    const nothing = { memory_mib_sum: 0, cpu_milli_sum: 0, usage_count: 0, tps_sum: 0, tps_count: 0 };
    const first = { players_sum: 7, players_max: 5, players_count: 2, memory_mib_sum: 1_000 };
    assert.deepEqual(await read("added"), [
      {
        at: new Date(at("02T10:00:00")),
        ...first,
        cpu_milli_sum: 300,
        usage_count: 1,
        tps_sum: 19.5,
        tps_count: 1,
      },
      { at: new Date(at("02T10:05:00")), players_sum: 1, players_max: 1, players_count: 1, ...nothing },
    ]);
  });

  test("of a server without a row are dropped, and those beside it are kept", async () => {
    await adopt("beside");
    await history.record(at("02T10:00:00"), [
      { name: "nobody", players: 2 },
      { name: "beside", players: 2 },
    ]);
    assert.equal((await read("beside")).length, 1);
    assert.deepEqual(await read("nobody"), []);
  });

  test("that were not written while the database was away are a gap, and sampling goes on", async () => {
    await adopt("away");
    await history.record(at("02T10:00:00"), [{ name: "away", players: 1 }]);
    await wire.cut();
    await assert.rejects(history.record(at("02T10:05:00"), [{ name: "away", players: 1 }]), {
      fault: "unavailable",
    });
    await wire.recover();
    await history.record(at("02T10:10:00"), [{ name: "away", players: 1 }]);
    const times = (await read("away")).map((step) => step.at.getTime());
    assert.deepEqual(times, [at("02T10:00:00"), at("02T10:10:00")]);
  });
});

describe("a month of samples", () => {
  const now = at("31T13:59:00");
  const name = "a-server-of-thirty-two-characters";

  test("becomes fewer steps without losing a sample, whenever and however often it is swept", async () => {
    await adopt(name);
    const total =
      "select sum(players_count)::int as n, sum(players_sum)::int as sum, max(players_max) as max";
    const sums = () =>
      database.admin(`${total} from lifecycle.server_history where server_name = $1`, [name]);
    await database.admin(
      `insert into lifecycle.server_history
        select $1, t, 5, 5, 10, extract(day from t)::int, 5000, 1500, 20, 5, 1
        from generate_series($2::timestamptz, $3::timestamptz, interval '5 minutes') t`,
      [name, new Date(gridOf("30d", now).from), new Date(now)],
    );
    const before = await sums();
    // A day late, then in time, then twice: as after an outage of the leader, and as two leaders for a moment do.
    for (const time of [now - day, now, now]) await history.sweep(decideSweep(time));
    assert.deepEqual(await sums(), before);
    assert.deepEqual(await stepsOf(name), [
      { step_minutes: 5, steps: 294 },
      { step_minutes: 30, steps: 291 },
      { step_minutes: 120, steps: 275 },
    ]);
  });

  test("takes less than 200 KiB for a server that never sleeps, index included", async () => {
    // A copy, because a vacuum keeps dead rows as long as any other session, the one of autoanalyze too, may see them.
    await database.admin("create table lifecycle.copied (like lifecycle.server_history including all)");
    await database.admin("insert into lifecycle.copied select * from lifecycle.server_history");
    await database.admin("reindex table lifecycle.copied");
    const [row] = await database.admin(
      "select pg_relation_size('lifecycle.copied')::int + pg_indexes_size('lifecycle.copied')::int as bytes",
    );
    await database.admin("drop table lifecycle.copied");
    assert.ok(Number(row?.["bytes"]) <= 200 * 1_024, `${row?.["bytes"]} bytes`);
  });

  test("ends after 30 days", async () => {
    await history.sweep(decideSweep(now + 31 * day));
    assert.deepEqual(await stepsOf(name), []);
  });

  test("of the platform is merged and ends in the same way", async () => {
    await history.recordPlatform(now - 2 * day, { awake: 2, players: 10 });
    await history.recordPlatform(now - 2 * day, { awake: 4, players: 0 });
    await history.recordPlatform(now - 2 * day + 5 * minuteMs, { awake: 0, players: 2 });
    await history.sweep(decideSweep(now));
    const start = new Date(at("29T13:30:00"));
    assert.deepEqual(await history.readPlatform(new Date(now - 3 * day)), [
      { at: start, samples: 2, awake_sum: 6, players_sum: 10, players_max: 10 },
      { at: new Date(at("29T14:00:00")), samples: 1, awake_sum: 0, players_sum: 2, players_max: 2 },
    ]);
    await history.sweep(decideSweep(now + 31 * day));
    assert.deepEqual(await history.readPlatform(new Date(0)), []);
  });
});

describe("phases", () => {
  const starts = () => history.readStarts(new Date(at("03T00:00:00")), 120);

  test("are noted with each change, with the time that a start took", async () => {
    await adopt("started");
    await changeTo("started", [
      ["Stopped", "03T09:00:00"],
      ["Starting", "03T10:00:00"],
      ["Running", "03T10:00:12.500"],
      ["Starting", "03T10:30:00"],
      ["Running", "03T10:30:30"],
      ["Stopped", "03T11:00:00"],
    ]);
    const about = { name: "started", from: new Date(at("03T09:30:00")), limit: 100 };
    const rows = await history.readPhases(about);
    assert.deepEqual(
      rows.map(({ phase, startSeconds }) => [phase, startSeconds]),
      [
        ["Stopped", undefined],
        ["Starting", undefined],
        ["Running", 12.5],
        ["Starting", undefined],
        ["Running", 30],
        ["Stopped", undefined],
      ],
    );
    assert.equal(rows[0]?.at.getTime(), at("03T09:00:00"), "the phase that the range begins in");
    const newest = await history.readPhases({ ...about, limit: 2 });
    assert.deepEqual(
      newest.map(({ phase }) => phase),
      ["Running", "Stopped"],
    );
  });

  test("count wakes from rest, and all starts of all servers", async () => {
    await adopt("other");
    await changeTo("other", [
      ["Stopped", "03T08:00:00"],
      ["Starting", "03T11:00:00"],
      ["Running", "03T11:00:20"],
    ]);
    assert.deepEqual(await starts(), [{ at: new Date(at("03T10:00:00")), wakes: 2, p50: 20, p95: 30 }]);
  });

  test("that are old go, but the one that a server is in stays", async () => {
    await history.sweep(decideSweep(at("03T10:00:00") + 40 * day));
    const rows = await history.readPhases({ name: "started", from: new Date(at("30T00:00:00")), limit: 100 });
    assert.deepEqual(
      rows.map(({ phase }) => phase),
      ["Stopped"],
    );
  });
});

describe("a server that is deleted", () => {
  const rowsOf = (name: string) =>
    database.admin(
      "select 1 from lifecycle.server_history where server_name = $1 union all select 1 from lifecycle.server_phases where server_name = $1",
      [name],
    );
  const begin = async (name: string) => {
    await adopt(name);
    await changeTo(name, [["Running", "04T10:00:00"]]);
    await history.record(at("04T10:00:00"), [{ name, players: 3 }]);
    assert.equal((await rowsOf(name)).length, 2);
    await database.admin("update lifecycle.servers set retire_delete = true where name = $1", [name]);
  };
  const remove = (name: string) =>
    createWorldStore(store).release({ name, outcome: "deleted", ownerId: undefined }, async () => {});

  test("leaves nothing", async () => {
    await begin("deleted");
    assert.ok(await remove("deleted"));
    assert.deepEqual(await rowsOf("deleted"), []);
    await history.record(at("04T10:05:00"), [{ name: "deleted", players: 3 }]);
    assert.deepEqual(await rowsOf("deleted"), [], "a sample that was taken before");
  });

  test("leaves nothing either when a sample was written at the same moment", async () => {
    await begin("raced");
    assert.ok(await remove("raced"));
    await database.admin(
      "insert into lifecycle.server_phases values ('raced', '2026-03-04T10:00:00Z', 'Running', false, null)",
    );
    await history.sweep(decideSweep(at("04T11:00:00")));
    assert.deepEqual(await rowsOf("raced"), []);
  });
});

describe("crash reports", () => {
  let crashes: CrashStore;
  before(() => {
    crashes = createCrashStore(store, day);
  });
  const report = (run: string, time: string) => ({
    ...{
      id: randomUUID(),
      server_name: "crashing",
      run,
      at: new Date(at(time)),
      cause: "eula",
      detail: null,
    },
    ...{ exit_code: 0, exit_reason: "Completed", ran_seconds: 3, was_running: false },
    ...{ tps: null, behind_ms: 2_000, watchdog: true },
    ...{ memory_mib: null, memory_limit_mib: null, lines: ["[10:00:00 INFO]: a"] },
  });
  const listed = async (since = 0) => (await crashes.list("crashing", new Date(since))).map(({ id }) => id);
  const events = async () =>
    (
      await database.admin(
        "select body from lifecycle.outbox where subject = 'svc.evt.lifecycle.crash.recorded.crashing'",
      )
    ).length;

  test("are written once for each run, with an event, and for no server that is gone", async () => {
    await crashes.record(report("a", "05T10:00:00"), "restarts");
    assert.deepEqual(await listed(), [], "there is no such server");
    await adopt("crashing");
    const first = report("a", "05T10:00:00");
    await crashes.record(first, "restarts");
    await crashes.record(report("a", "05T10:00:00"), "restarts");
    assert.deepEqual([await listed(), await events()], [[first.id], 1]);
    assert.deepEqual((await crashes.find("crashing", first.id, new Date(0)))?.lines, first.lines);
    assert.equal(await crashes.find("added", first.id, new Date(0)), undefined, "of another server");
  });

  test("are the newest twenty, and a repeat drops none", async () => {
    const more = Array.from({ length: 20 }, (_, minute) =>
      report(`run ${minute}`, `05T11:${String(minute).padStart(2, "0")}:00`),
    );
    for (const one of more) await crashes.record(one, "restarts");
    const newest = more.map(({ id }) => id).reverse();
    assert.deepEqual(await listed(), newest);
    await crashes.record({ ...report("run 19", "05T11:19:00") }, "restarts");
    assert.deepEqual(await listed(), newest);
    assert.deepEqual(await listed(at("05T11:18:00")), newest.slice(0, 2), "since a claim");
  });

  test("queue a mail to the owner when the server stays down, once a day, and for no server of nobody", async () => {
    await adopt("mailed");
    const crash = (run: string, time: string, after: "stopped" | "left" | "restarts" = "restarts") =>
      crashes.record({ ...report(run, time), server_name: "mailed" }, after);
    const queued = async () =>
      (
        await database.admin(
          "select kind, owner_id, cause from lifecycle.crash_notices order by created_at, id",
        )
      ).map(({ kind, owner_id, cause }) => [kind, owner_id, cause]);
    await crash("nobody's", "07T10:00:00", "stopped");
    assert.deepEqual(await queued(), []);
    const own = (account: string) =>
      database.admin("update lifecycle.servers set owner_id = $1 where name = 'mailed'", [account]);
    await own("usr-a");
    await crash("one", "07T11:00:00");
    await crash("two", "07T11:10:00");
    assert.deepEqual(await queued(), [], "two are no loop");
    await crash("late", "07T11:31:00");
    assert.deepEqual(await queued(), [], "and three in more than half an hour are none");
    await crash("three", "07T11:39:00");
    assert.deepEqual(await queued(), [["looping", "usr-a", "eula"]]);
    await crash("three", "07T11:39:00");
    await crash("four", "07T11:42:00", "stopped");
    assert.equal((await queued()).length, 1, "one a day");
    await own("usr-b");
    await database.admin("update lifecycle.crash_notices set done_at = now()");
    await crash("five", "07T12:00:00", "left");
    assert.deepEqual((await queued())[1], ["left", "usr-b", "eula"]);
    await database.admin(
      "update lifecycle.crash_notices set done_at = now(), created_at = now() - interval '25 hours'",
    );
    await Promise.all([crash("six", "08T12:00:00", "stopped"), crash("seven", "08T12:00:01", "stopped")]);
    assert.equal((await queued()).length, 3, "of two at once one");
  });

  test("know whether players could join in a run, and its memory at the end", async () => {
    const run = (from: string, to: string) => ({
      key: "run 3",
      startedAt: new Date(at(from)),
      endedAt: new Date(at(to)),
    });
    const facts = async (from: string, to: string) => crashes.factsOf("crashing", run(from, to));
    await changeTo("crashing", [
      ["Starting", "05T12:00:00"],
      ["Running", "05T12:01:00"],
    ]);
    await history.record(at("05T12:05:00"), [{ name: "crashing", usage: { memoryMib: 900, cpuMilli: 1 } }]);
    await history.record(at("05T12:05:00"), [{ name: "crashing", tps: 7.5 }]);
    const unknown = { isRecorded: true, wasRunning: false, memoryMib: undefined, tps: undefined };
    assert.deepEqual(await facts("05T12:00:00", "05T12:00:30"), unknown);
    assert.deepEqual(await facts("05T12:00:00", "05T12:08:00"), {
      ...{ isRecorded: true, wasRunning: true, memoryMib: 900, tps: 7.5 },
    });
    assert.equal((await facts("05T12:09:00", "05T12:20:00")).wasRunning, true, "restarted within Running");
    assert.equal((await facts("05T12:09:00", "05T12:20:00")).memoryMib, undefined, "the sample is too old");
  });

  test("that are old go, and those of a deleted server go with it", async () => {
    const late = report("late", "10T10:00:00");
    await crashes.record(late, "restarts");
    await history.sweep(decideSweep(at("06T12:00:00") + 30 * day));
    assert.deepEqual(await listed(), [late.id]);
    await database.admin("update lifecycle.servers set deleted_at = now() where name = 'crashing'");
    await history.sweep(decideSweep(at("06T00:00:00")));
    assert.deepEqual(await listed(), []);
  });
});
