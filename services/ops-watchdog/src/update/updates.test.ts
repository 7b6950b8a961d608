import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { faultOf, until } from "@svc/mesh/testing";
import { databaseBackups, updates } from "@svc/proto";
import { componentNames } from "../config.ts";
import { admin, type Fixture, startFixture } from "../testing/fixture.ts";
import { checkUpdates } from "./check.ts";
import { decideComponent, type Observed } from "./decide.ts";
import { planUpdates } from "./plan.ts";
import { recordReport } from "./report.ts";
import { decideRollback, type RollbackBundle } from "./rollback.ts";

let fixture: Fixture;
before(async () => {
  fixture = await startFixture();
});
after(() => fixture?.stop());

const day = 86_400_000;

describe("the update window", () => {
  const write = (start: string | null, end: string | null) =>
    fixture.gateway.call(updates.writeWindow, { start, end }, admin);
  const read = () => fixture.gateway.call(updates.readWindow, {}, admin);

  test("there is none at first", async () => {
    assert.deepEqual(await read(), { start: null, end: null });
  });
  test("it is stored in UTC, answered as stored, and told to the audit log", async () => {
    const stored = { start: "2026-11-23T01:00:00.000Z", end: "2026-11-23T03:00:00.000Z" };
    assert.deepEqual(await write("2026-11-23T02:00:00+01:00", "2026-11-23T03:00:00Z"), stored);
    assert.deepEqual(await read(), stored);
    await until(() => fixture.audits.length > 0);
    const [entry] = fixture.audits;
    assert.deepEqual(
      [entry?.action, entry?.actor_user_id, entry?.payload],
      ["update.window", "usr-admin", stored],
    );
  });
  test("one end only and an end that is not after the start are refused and change nothing", async () => {
    const before = await read();
    const at = "2026-12-01T00:00:00Z";
    for (const [start, end] of [
      [at, null],
      [null, at],
      [at, at],
      [at, "2026-11-30T00:00:00Z"],
    ] as const) {
      assert.equal(await faultOf(write(start, end)), "bad_request", `${start} ${end}`);
    }
    assert.deepEqual(await read(), before);
  });
  test("two nulls clear it", async () => {
    assert.deepEqual(await write(null, null), { start: null, end: null });
    assert.deepEqual(await read(), { start: null, end: null });
  });
});

describe("the report", () => {
  test("without one the answer is null and stale", async () => {
    const answer = await fixture.gateway.call(updates.readReport, {}, admin);
    assert.deepEqual(answer, { report: null, stale: true, max_age_seconds: 93_600 });
  });
  test("the newest is answered, and stale after 26 hours", async () => {
    const report = {
      checked_at: new Date(fixture.clock.now).toISOString(),
      version: "0.1.0",
      components: [{ name: "nats", state: "current" as const, current: "2.14.0" }],
    };
    await recordReport(fixture.db, {
      ...report,
      checked_at: new Date(fixture.clock.now - day).toISOString(),
    });
    await recordReport(fixture.db, report);
    const read = () => fixture.gateway.call(updates.readReport, {}, admin);
    assert.deepEqual(await read(), { report, stale: false, max_age_seconds: 93_600 });
    fixture.clock.now += 26 * 3_600_000;
    assert.equal((await read()).stale, false);
    fixture.clock.now += 1;
    assert.equal((await read()).stale, true);
  });
  test("thirty reports are kept", async () => {
    for (let count = 0; count < 35; count += 1)
      await recordReport(fixture.db, {
        checked_at: new Date(fixture.clock.now + count).toISOString(),
        version: "0.1.0",
        components: [],
      });
    const rows = await fixture.db.selectFrom("update_reports").select("id").execute();
    assert.equal(rows.length, 30);
  });
});

describe("the status of database backups", () => {
  const status = () => fixture.gateway.call(databaseBackups.readStatus, {}, admin);
  const bundle = (label: databaseBackups.BundleLabel, at: number) => ({
    name: `db-${at}-${label}.tar`,
    label,
    taken_at: new Date(at),
    size_bytes: 5_000_000_000,
    version: "0.1.0",
    schema_version: 40,
    dir: "/var/lib/svc/db-backups",
    servers_error: null,
    damage: null,
  });
  test("without a bundle it is null and stale", async () => {
    assert.deepEqual(await status(), { last: null, stale: true, max_age_seconds: 93_600, bundles: [] });
  });
  test("a newer bundle of another label is the last one and leaves an old daily one stale", async () => {
    const { now } = fixture.clock;
    const rows = [bundle("daily", now - 27 * 3_600_000), bundle("manual", now)];
    await fixture.db.insertInto("database_bundles").values(rows).execute();
    const { last, stale, bundles } = await status();
    assert.deepEqual(
      bundles?.map(({ label }) => label),
      ["manual", "daily"],
    );
    assert.equal(last?.label, "manual");
    assert.equal(last?.size_bytes, 5_000_000_000);
    assert.equal(last?.daily_at, new Date(now - 27 * 3_600_000).toISOString());
    assert.equal(stale, true);
    await fixture.db
      .insertInto("database_bundles")
      .values(bundle("daily", now - 1))
      .execute();
    assert.equal((await status()).stale, false);
  });
  test("a damaged daily bundle does not count", async () => {
    await fixture.db.updateTable("database_bundles").set({ damage: "cut off" }).execute();
    const { last, stale, bundles } = await status();
    assert.deepEqual([last?.daily_at, stale], [undefined, true]);
    assert.equal(bundles?.[0]?.damage, "cut off");
  });
});

describe("what a report says of a component", () => {
  const installed = (value: string) => ({ kind: "read", value }) as const;
  const feed = (...versions: string[]) => ({ kind: "read", value: { versions } }) as const;
  const base: Observed = {
    name: "postgresql",
    installed: installed("18.4"),
    feed: feed("18.4"),
    isPinned: false,
    withinMajor: true,
  };
  const failed = { kind: "failed", error: "away" } as const;
  const table: [string, Partial<Observed>, string, string | undefined][] = [
    ["the newest version is current", {}, "current", undefined],
    ["a newer minor version is available", { feed: feed("18.5", "18.4") }, "available", "18.5"],
    ["a newer major version is not an update", { feed: feed("19.0", "18.4") }, "current", undefined],
    ["a feed of other majors only is unknown", { feed: feed("19.0") }, "unknown", undefined],
    ["18.10 is newer than 18.9", { installed: installed("18.9"), feed: feed("18.10") }, "available", "18.10"],
    ["an older feed is current", { feed: feed("18.1") }, "current", undefined],
    ["without a feed it is unknown", { feed: { kind: "none" } }, "unknown", undefined],
    ["an unreadable feed is unknown", { feed: failed }, "unknown", undefined],
    ["an unreadable installation is unreadable", { installed: failed }, "unreadable", undefined],
    ["text is not a version", { installed: installed("unknown") }, "unreadable", undefined],
    ["a pinned one is pinned", { isPinned: true, feed: feed("18.5") }, "pinned", undefined],
    [
      "v1.30.1 has a version",
      { installed: installed("v1.30.1"), withinMajor: false, feed: feed("1.31") },
      "available",
      "1.31",
    ],
  ];
  for (const [what, change, state, latest] of table) {
    test(what, () => {
      const component = decideComponent({ ...base, ...change });
      assert.deepEqual([component.state, component.latest], [state, latest]);
    });
  }
});

describe("the way back", () => {
  const at = (hours: number) => new Date(Date.parse("2026-11-22T00:00:00Z") + hours * 3_600_000);
  const bundle = (label: RollbackBundle["label"], hours: number, migrations: number, version = "0.1.0") => ({
    ...{ name: `${label}-${hours}`, label, takenAt: at(hours), version, migrations },
  });
  const [daily, before] = [bundle("daily", 3, 40), bundle("pre-migrate", 10, 40, "0.2.0")];
  const after = bundle("daily", 27, 42, "0.2.0");
  type Answer = { restores?: string; release?: string; since?: Date };
  const table: [string, RollbackBundle[], number | undefined, string, Answer][] = [
    [
      "is the newest bundle before the last migration",
      [before, daily],
      42,
      "restore",
      { restores: "pre-migrate-10", release: "0.1.0" },
    ],
    [
      "says since when nothing was migrated",
      [after, before, daily],
      42,
      "restore",
      { restores: "pre-migrate-10", release: "0.1.0", since: at(27) },
    ],
    [
      "is any whole bundle where the pre-migrate one is gone",
      [after, daily],
      42,
      "restore",
      { restores: "daily-3", release: "0.1.0", since: at(27) },
    ],
    [
      "is the old release alone where nothing was migrated",
      [bundle("manual", 9, 40), daily],
      40,
      "reinstall",
      { release: "0.1.0", since: at(3) },
    ],
    [
      "is the pre-migrate bundle where the database is away",
      [after, before, daily],
      undefined,
      "restore",
      { restores: "pre-migrate-10", release: "0.1.0" },
    ],
    ["is unknown without a database and without such a bundle", [daily], undefined, "none", {}],
    ["is unknown without a bundle", [], 42, "none", {}],
    [
      "does not know the old release where only the new one took a bundle",
      [before],
      42,
      "restore",
      { restores: "pre-migrate-10" },
    ],
  ];
  for (const [fact, bundles, migrations, kind, expected] of table)
    test(fact, () => {
      const found = decideRollback(bundles, migrations);
      const answer: Answer = {
        ...(found.kind === "restore" && { restores: found.bundle.name }),
        ...(found.kind !== "none" && found.release !== undefined && { release: found.release }),
        ...(found.kind === "restore" && found.same_schema_since && { since: found.same_schema_since }),
        ...(found.kind === "reinstall" && { since: found.since }),
      };
      assert.deepEqual([found.kind, answer], [kind, expected]);
      const restored = found.steps
        .flatMap(({ commands }) => commands)
        .filter((line) => /db restore/.test(line));
      for (const line of restored) assert.ok(line.includes(expected.restores ?? "nothing is restored"), line);
    });
});

test("a plan puts what svc runs on first, and says of every step how it is undone, or why it cannot be", () => {
  const all = planUpdates(componentNames.map((name) => ({ name, latest: "9.9" })));
  assert.deepEqual(
    all.map(({ name }) => name),
    ["postgresql", "nats", "kubernetes", "node", "platform", "proxy"],
  );
  for (const { name, steps } of all)
    for (const { title, undo, why } of steps) assert.ok(undo !== null || why, `${name}: ${title}`);
  const platform = all.find(({ name }) => name === "platform")?.steps ?? [];
  assert.match(platform[0]?.title ?? "", /bundle/);
  const migrates = platform.findIndex(({ undo }) => undo === null);
  assert.ok(migrates > 0 && migrates < platform.length - 1);
  assert.ok(platform.some(({ commands }) => commands.some((line) => line.includes("REGISTRY/svc:9.9"))));
});

test("a check asks every component and every feed, and reports what fails", async () => {
  const server = createServer((request, response) => {
    if (request.url === "/broken") response.writeHead(500).end();
    else response.end(JSON.stringify({ versions: ["99.0.0"], note: "Security." }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const feeds = {
    ...Object.fromEntries(componentNames.map((name) => [name, ""])),
    platform: at,
    nats: `${at}/broken`,
  };
  const { components } = await checkUpdates({
    version: "0.1.0",
    feeds: feeds as Record<(typeof componentNames)[number], string>,
    pinned: [],
    feedTimeoutMs: 20_000,
    installed: {
      postgresql: async () => "18.4",
      nats: async () => "2.14.5",
      kubernetes: () => Promise.reject(new Error("no cluster")),
    },
    now: Date.now,
  });
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  const states = Object.fromEntries(components.map(({ name, state }) => [name, state]));
  assert.deepEqual(states, {
    platform: "available",
    proxy: "unknown",
    postgresql: "unknown",
    nats: "unknown",
    node: "unknown",
    kubernetes: "unreadable",
  });
  assert.equal(components.find(({ name }) => name === "nats")?.error, "the feed answered 500");
  assert.equal(components[0]?.note, "Security.");
});
