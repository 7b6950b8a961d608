import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import type { Mesh } from "@svc/mesh";
import { account, faultOf, retryAfterOf, staff, until } from "@svc/mesh/testing";
import { backupChanges, backupKeeping, backups, drills } from "@svc/proto";
import { lockedServers } from "@svc/world-lock";
import { demoImage, type Fixture, openFixture } from "../testing/fixture.ts";
import { addSet } from "../testing/stateful-set.ts";
import { namespace } from "../testing/worlds.ts";

const files = { "level.dat": "one", "region/r.0.0.mca": "chunks", "region/r.0.1.mca": "more" };

describe("backup operations of the host operator and of owners", () => {
  let fixture: Fixture;
  let operator: Mesh;
  let id = "";
  before(async () => {
    fixture = await openFixture();
    await fixture.kube.create(resources.claims, {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "drill-0123456789", namespace, labels: { "svc.internal/drill": "0123456789" } },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    });
    await fixture.start();
    operator = await fixture.nats.connect("operator");
    await fixture.addServer("survival", "usr-1", files);
    await fixture.external.call(backups.create, { name: "survival" }, staff);
    await settled("survival");
    id = (await find())[0]?.id ?? "";
  });
  after(async () => {
    await operator?.drain(500);
    await fixture?.close();
  });

  const find = async () =>
    (await operator.call(backupKeeping.findBackups, { server: "survival", limit: 20, offset: 0 })).backups;
  const settled = async (name: string) => {
    const look = () => operator.call(backupKeeping.listJobsByOperator, { name });
    const isOpen = (job: backups.WorldJob) => job.state === "running" || job.then_restore === "pending";
    await until(async () => !(await look()).jobs.some(isOpen), 20_000);
    return (await look()).jobs;
  };

  test("lifecycle reads the size of the world at each backup since a given time", async () => {
    const lifecycle = await fixture.nats.connect("lifecycle");
    const read = (since: string, server = "survival") =>
      lifecycle.call(backups.listWorldSizes, { server, since });
    const created = (await find())[0]?.created_at ?? "";
    const bytes = Object.values(files).join("").length;
    assert.deepEqual(await read("2026-01-01T00:00:00.000Z"), { sizes: [{ at: created, bytes }] });
    assert.deepEqual(await read(new Date(Date.now() + 60_000).toISOString()), { sizes: [] });
    assert.deepEqual(await read("2026-01-01T00:00:00.000Z", "another"), { sizes: [] });
    await lifecycle.drain(500);
  });

  test("a backup is labelled and pinned, and both are undone", async () => {
    const first = await operator.call(backupKeeping.annotateBackup, {
      id,
      label: "before 1.22",
      pinned: true,
    });
    assert.deepEqual([first.label, first.pinned], ["before 1.22", true]);
    const second = await operator.call(backupKeeping.annotateBackup, { id, pinned: false });
    assert.deepEqual([second.label, second.pinned], ["before 1.22", false]);
    assert.deepEqual(await find(), [second]);
    assert.equal(
      await faultOf(operator.call(backupKeeping.annotateBackup, { id: "bk-none", label: "x" })),
      "no_backup",
    );
  });

  test("a backup's folders are read from its archive, and no Job is left", async () => {
    const top = await operator.call(backupKeeping.browseBackup, { id, path: "" });
    assert.deepEqual(
      top.entries.map(({ name, is_dir }) => [name, is_dir]),
      [
        ["level.dat", false],
        ["region", true],
      ],
    );
    const region = await operator.call(backupKeeping.browseBackup, { id, path: "region" });
    assert.deepEqual(region.entries.map(({ name }) => name).sort(), ["r.0.0.mca", "r.0.1.mca"]);
    assert.equal(
      await faultOf(operator.call(backupKeeping.browseBackup, { id, path: "nothing" })),
      "not_found",
    );
    assert.equal(
      await faultOf(operator.call(backupKeeping.browseBackup, { id, path: "../etc" })),
      "bad_path",
    );
    await until(async () => {
      const { items } = await fixture.kube.list(resources.jobs, { namespace });
      return !items.some(({ metadata }) => metadata.name.startsWith("browse-"));
    });
  });

  test("the owner of the world and staff read its folders too, and nobody else can", async () => {
    const files = (path: string, as = account("usr-1")) =>
      fixture.external.call(backups.listFiles, { id, path }, as);
    for (const as of [account("usr-1"), staff]) {
      const { entries } = await files("region/", as);
      assert.deepEqual(entries.map(({ name }) => name).sort(), ["r.0.0.mca", "r.0.1.mca"]);
    }
    assert.equal(await faultOf(files("", account("usr-2"))), "no_backup");
    assert.equal(await faultOf(files("../etc")), "bad_path");
    assert.equal(await faultOf(files("nothing")), "not_found");
    fixture.servers.owners.set("survival", "usr-2");
    assert.equal(await faultOf(files("", account("usr-2"))), "no_backup", "the next owner");
    fixture.servers.owners.set("survival", "usr-1");
  });

  test("what a backup has otherwise than another one is told, to whoever sees both", async () => {
    fixture.changeWorld("survival", { "level.dat": "two", "region/r.0.0.mca": "chunks", "new.txt": "new" });
    const before = (await find()).length;
    await fixture.external.call(backups.create, { name: "survival" }, staff);
    await until(async () => (await find()).length > before, 30_000);
    const later = (await find())[0]?.id ?? "";
    const answer = await operator.call(backupChanges.compareBackups, { id: later, since: id, path: "" });
    assert.deepEqual(
      answer.files.map(({ change, path }) => `${change} ${path}`),
      ["changed level.dat", "added new.txt", "removed region/r.0.1.mca"],
    );
    assert.deepEqual([answer.same, answer.exact, answer.truncated], [1, true, false]);
    const ask = (as = account("usr-1"), about = {}) =>
      fixture.external.call(backupChanges.listChanges, { id: later, since: id, path: "", ...about }, as);
    assert.deepEqual(await ask(), answer);
    assert.deepEqual((await ask(staff, { path: "region" })).files, answer.files.slice(2));
    assert.equal(await faultOf(ask(account("usr-2"))), "no_backup");
    assert.equal(await faultOf(ask(staff, { since: "bk-none" })), "no_backup");
    assert.equal(await faultOf(ask(staff, { path: "../up" })), "bad_path");
  });

  test("single files are restored, and nothing else in the world changes", async () => {
    fixture.changeWorld("survival", { "level.dat": "two", "region/r.0.0.mca": "broken", "new.txt": "new" });
    await operator.call(backupKeeping.restoreByOperator, {
      id,
      only: ["region/r.0.0.mca"],
      safety_snapshot: true,
    });
    assert.equal((await settled("survival"))[0]?.state, "succeeded");
    assert.deepEqual(fixture.worldOf("survival"), {
      "level.dat": "two",
      "new.txt": "new",
      "region/r.0.0.mca": "chunks",
    });
  });

  test("paths that no world can have are rejected before the world is touched", async () => {
    const jobs = (await settled("survival")).length;
    const long = Array.from({ length: 40 }, (_, index) => `${index}${"x/y".repeat(1_000)}`);
    for (const only of [["../up"], ["region", "/etc"], ["a\\b"], ["world/.svc-restore-1"], long]) {
      const asked = operator.call(backupKeeping.restoreByOperator, { id, only, safety_snapshot: true });
      assert.equal(await faultOf(asked), "bad_path");
    }
    assert.equal((await settled("survival")).length, jobs);
  });

  test("objects in the cluster of a drill without a row are removed", async () => {
    const target = { name: "drill-0123456789", namespace };
    await until(async () => (await fixture.kube.find(resources.claims, target)) === undefined);
  });

  test("a backup of all servers is planned, stops running servers only when asked to, and starts them again", async () => {
    await fixture.addServer("running", "usr-1", files);
    const target = { name: "running", namespace };
    await fixture.kube.patch(lockedServers, target, { merge: { spec: { desiredState: "Running" } } });
    const status = { merge: { status: { phase: "Running" } }, subresource: "status" as const };
    await fixture.kube.patch(lockedServers, target, status);
    const plan = (may_stop: boolean) =>
      operator.call(backupKeeping.planBackups, { names: ["nobody", "running", "survival"], may_stop });
    assert.deepEqual((await plan(false)).servers, [
      { name: "survival", action: "back_up" },
      { name: "running", action: "skip_running" },
      { name: "nobody", action: "skip_unknown" },
    ]);
    assert.equal((await plan(true)).servers[1]?.action, "stop_then_back_up");
    const start = (may_stop: boolean) =>
      operator.call(backupKeeping.backUpNow, { name: "running", may_stop, os_user: "root" });
    assert.equal(await faultOf(start(false)), "not_stopped");
    let started = await start(true);
    assert.equal(started.state, "stopping");
    await until(async () => {
      started = await start(true);
      return started.state === "started";
    });
    assert.equal((await settled("running"))[0]?.state, "succeeded");
    await operator.call(backupKeeping.resumeAfterBackup, { name: "running" });
    assert.equal((await fixture.kube.get(lockedServers, target)).spec.desiredState, "Running");
  });

  test("a drill boots the server on the content of the backup, reports its version and leaves nothing behind", async () => {
    await addSet(fixture, "survival", demoImage);
    const before = fixture.worldOf("survival");
    const { id: drill } = await operator.call(backupKeeping.startDrill, { name: "survival", backup_id: id });
    const podOf = () => fixture.kube.find(resources.pods, { name: `drill-${drill}`, namespace });
    await until(async () => (await podOf()) !== undefined, 30_000);
    const { "svc.internal/server": server, ...labels } = (await podOf())?.metadata.labels ?? {};
    assert.equal(
      server,
      undefined,
      "the pod of a drill is not selected by the server's StatefulSet and Services",
    );
    assert.equal(
      labels["svc.internal/component"],
      "server",
      "the network policies for servers apply to a drill",
    );
    assert.equal(labels["svc.internal/managed-by"], "svc-operator");
    const read = () => operator.call(backupKeeping.readDrill, { id: drill });
    await until(async () => ["passed", "failed"].includes((await read()).state), 60_000);
    const end = await read();
    assert.equal(end.state, "passed", end.message);
    assert.match(end.version ?? "", /1\.21/);
    assert.deepEqual(fixture.worldOf("survival"), before);
    await until(async () => {
      const lists = await Promise.all([
        fixture.kube.list(resources.pods, { namespace }),
        fixture.kube.list(resources.claims, { namespace }),
      ]);
      return lists.every(({ items }) => !items.some(({ metadata }) => metadata.name.startsWith("drill-")));
    });
  });

  test("an owner starts drills of their own backups: one at a time, an hour apart, and not visible to others", async () => {
    const begin = (as = account("usr-1"), input: { backup_id?: string } = {}) =>
      fixture.external.call(drills.begin, { name: "survival", ...input }, as);
    const list = async (as = account("usr-1")) =>
      (await fixture.external.call(drills.list, { name: "survival" }, as)).drills;
    assert.deepEqual([(await list()).length, (await list(staff)).length], [1, 1]);
    assert.equal(await faultOf(begin(account("usr-2"))), "forbidden");
    assert.equal(await faultOf(list(account("usr-2"))), "forbidden");
    fixture.servers.owners.set("survival", "usr-2");
    assert.deepEqual(await list(account("usr-2")), [], "the next owner");
    assert.equal(await faultOf(begin(account("usr-2"), { backup_id: id })), "no_backup");
    assert.equal(await faultOf(begin()), "forbidden");
    fixture.servers.owners.set("survival", "usr-1");
    assert.equal(await faultOf(begin()), "drill_busy");
    assert.ok(((await retryAfterOf(begin())) ?? 0) > 3_000);
    await fixture.database.admin("update storage.drills set started_at = started_at - interval '1 hour'");
    assert.equal(await faultOf(begin(account("usr-1"), { backup_id: "bk-none" })), "no_backup");
    const ends = await Promise.all([1, 2, 3].map(() => faultOf(begin())));
    assert.deepEqual(ends.sort(), ["drill_busy", "drill_busy", "none"]);
    assert.equal(await faultOf(begin(staff)), "drill_busy");
    await until(async () => (await list())[0]?.finished_at !== undefined, 60_000);
    assert.equal((await list())[0]?.state, "passed");
    await until(() =>
      fixture.audits.some((one) => one.action === "backup.drill" && one.actor_user_id === "usr-1"),
    );
  });

  test("a drill of a server that does not start fails with the reason", async () => {
    await fixture.addServer("broken", "usr-1", files);
    await addSet(fixture, "broken", "svc.local/exits");
    await fixture.external.call(backups.create, { name: "broken" }, staff);
    await settled("broken");
    const { id: drill } = await operator.call(backupKeeping.startDrill, { name: "broken" });
    const read = () => operator.call(backupKeeping.readDrill, { id: drill });
    await until(async () => (await read()).state === "failed", 60_000);
    assert.deepEqual(
      [(await read()).message, (await read()).code],
      ["the server exited during startup", "server_exited"],
    );
  });
});
