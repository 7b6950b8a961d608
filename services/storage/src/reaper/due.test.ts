// When a run starts: once a day across all replicas, and again when its process died.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadSettings } from "@svc/config";
import { reapers } from "@svc/proto";
import { parse } from "yaml";
import { settings as schema } from "../config.ts";
import type { RunRow } from "../database/reaper-runs.ts";
import { now } from "../testing/reaper/facts.ts";
import { day, openReaperFixture, type ReaperFixture } from "../testing/reaper/fixture.ts";
import { createReaper, findDueAttempt } from "./reaper.ts";
import { diedMessage } from "./run-store.ts";

describe("whether a run is due", () => {
  type Newest = Pick<RunRow, "state" | "message" | "attempt" | "started_at">;
  const ago = (ms: number, about: Partial<Newest> = {}): Newest => ({
    state: "succeeded",
    message: "",
    attempt: 1,
    started_at: new Date(now - ms),
    ...about,
  });
  const died = { state: "failed", message: diedMessage } as const;
  const rows: [fact: string, newest: Newest | undefined, attempt: number | undefined][] = [
    ["due when there never was one", undefined, 1],
    ["due a day after the start of the last one", ago(day), 1],
    ["not due before that", ago(day - 1), undefined],
    ["not due while one is running", ago(60_000, { state: "running" }), undefined],
    ["not due again because a run needs attention", ago(60_000, { state: "failed" }), undefined],
    ["due again when its process died", ago(60_000, died), 2],
    ["started again at most twice", ago(60_000, { ...died, attempt: 3 }), undefined],
    ["due the next day as a first try", ago(day, { ...died, attempt: 3 }), 1],
  ];
  const settings = loadSettings(schema, {});
  for (const [fact, newest, attempt] of rows) {
    test(fact, () => assert.equal(findDueAttempt(newest, { settings, now: () => now }), attempt));
  }
});

describe("runs of several replicas", () => {
  let fixture: ReaperFixture;
  before(async () => {
    fixture = await openReaperFixture();
  });
  after(() => fixture?.close());

  test("are one, whichever replica starts it", async () => {
    const replicas = [1, 2, 3].map(() => createReaper(fixture.depsOf(["storage.reaper_every=1d"])));
    const began = await Promise.all(replicas.map((reaper) => reaper.tick()));
    assert.equal(began.filter((row) => row !== undefined).length, 1);
    await Promise.all(replicas.map((reaper) => reaper.idle()));
    assert.deepEqual(await Promise.all(replicas.map((reaper) => reaper.tick())), [
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("that only clean up the store do not replace the daily run over all worlds", async () => {
    const reaper = createReaper(fixture.depsOf(["storage.reaper_every=1d"]));
    await fixture.base.database.admin(
      "update storage.reaper_runs set started_at = now() - interval '25 hours'",
    );
    await reaper.start({ startedBy: "operator", retentionOnly: true });
    await reaper.idle();
    const full = await reaper.tick();
    assert.equal(full?.retention_only, false);
    await reaper.idle();
    const bare = createReaper(fixture.depsOf(["storage.reaper_every=1d", "storage.agent_image="]));
    assert.equal(await bare.tick(), undefined, "only clean up the store where no world can be archived");
  });

  test("clean up the store early while its file system is nearly full, at most once an hour", async () => {
    const given = ["storage.reaper_every=1d", "storage.keep_free=1"];
    const giveUp = () =>
      fixture.base.database.admin(
        `insert into storage.world_backups (id, server_name, backup_ref, size_bytes, reason, status, expires_at, sha256)
         values (gen_random_uuid(), 'gone', '/archive/gone-1.tar.zst', 1, 'manual', 'expired', now(), repeat('0', 64))`,
      );
    await giveUp();
    const short = createReaper(fixture.depsOf(given));
    assert.equal(await short.tick(), undefined, "a recent run has already freed what can be freed");
    await fixture.base.database.admin(
      "update storage.reaper_runs set started_at = now() - interval '61 minutes'",
    );
    const early = await short.tick();
    assert.deepEqual([early?.retention_only, early?.started_by], [true, "storage"]);
    await short.idle();
    await giveUp();
    assert.equal(await short.tick(), undefined);
    await fixture.base.database.admin(
      "update storage.reaper_runs set started_at = now() - interval '61 minutes'",
    );
    const roomy = createReaper(fixture.depsOf(["storage.reaper_every=1d", "storage.keep_free=0"]));
    assert.equal(await roomy.tick(), undefined);
  });

  test("that died are started again by another replica", async () => {
    await fixture.base.database.admin(
      `insert into storage.reaper_runs (id, started_by, started_at, heartbeat_at)
       values ('dead', 'storage', now(), now() - interval '3 minutes')`,
    );
    const reaper = createReaper(fixture.depsOf(["storage.reaper_every=1d"]));
    const again = await reaper.tick();
    assert.equal(again?.attempt, 2);
    await reaper.idle();
    const [dead] = await fixture.base.database.admin(
      "select state, message from storage.reaper_runs where id = 'dead'",
    );
    assert.deepEqual(dead, { state: "failed", message: diedMessage });
  });

  test("are started and reported over NATS, for the operator", async () => {
    const operator = await fixture.base.nats.connect("operator");
    const begun = await operator.call(reapers.startReaper, { retention_only: true, started_by: "operator" });
    assert.match(begun.line, /^svc reaper: evaluated=0 /);
    let run = begun;
    while (run.state === "running") run = await operator.call(reapers.readReaper, { id: begun.id });
    assert.deepEqual([run.state, run.retention_only], ["succeeded", true], JSON.stringify(run));
    await operator.drain(500);
  });
});

test("the CronJob starts a run each day with an existing command, and retries it twice", () => {
  const root = fileURLToPath(new URL("../../../../", import.meta.url));
  const { kind, spec } = parse(readFileSync(`${root}deploy/kubernetes/base/reaper.yaml`, "utf8"));
  assert.deepEqual(
    [kind, spec.concurrencyPolicy, spec.jobTemplate.spec.backoffLimit],
    ["CronJob", "Forbid", 2],
  );
  assert.match(spec.schedule, /^\d+ \d+ \* \* \*$/);
  const [{ args }] = spec.jobTemplate.spec.template.spec.containers;
  assert.equal(args.at(-1), "reaper");
  assert.ok(existsSync(`${root}${args.at(-2)}`));
});
