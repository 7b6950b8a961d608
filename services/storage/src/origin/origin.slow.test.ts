// Worlds of clones, with the processes that bring them killed at each step. Lifecycle's part is the object and the order.

import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import { account, faultOf, staff, until } from "@svc/mesh/testing";
import { backups, clones, eventSubject, origins } from "@svc/proto";
import { lockedServers, maintenanceAnnotation } from "@svc/world-lock";
import { type Fixture, openFixture } from "../testing/fixture.ts";
import { type StorageProcess, startGated, startProcess } from "../testing/storage-process.ts";
import { namespace, readFiles, volumes } from "../testing/worlds.ts";

const files = { "level.dat": "one", "region/r.0.0.mca": "chunks" };
const lock = "migration@2026-01-01T00:00:00.000Z";

describe("the world of a clone", () => {
  let fixture: Fixture;
  let service: StorageProcess | undefined;
  let backupId = "";
  before(async () => {
    fixture = await openFixture();
    service = await startProcess(fixture);
    await fixture.addServer("source", "usr-1", files);
    await fixture.external.call(backups.create, { name: "source" }, staff);
    await until(async () => (await list("source")).length === 1, 30_000);
    backupId = (await list("source"))[0]?.id ?? "";
  });
  after(async () => {
    await service?.kill();
    await fixture?.close();
  });
  afterEach(() => {
    assert.deepEqual(fixture.worldOf("source"), files, "the source is untouched");
  });

  const list = async (server: string) =>
    (await fixture.external.call(backups.list, { server, limit: 50, offset: 0 }, staff)).backups;
  const read = async (name: string, as = staff) =>
    (await fixture.external.call(origins.read, { name }, as)).origin;
  const choose = (input: { is_new: boolean; backup_id?: string }, name = "source") =>
    fixture.lifecycleMesh.call(origins.choose, { name, ...input });
  const lockOf = async (name: string) =>
    (await fixture.kube.find(lockedServers, { name, namespace }))?.metadata.annotations?.[
      maintenanceAnnotation
    ];
  const jobsOf = async (name: string) =>
    (await fixture.external.call(backups.listJobs, { name }, staff)).jobs;

  async function send(name: string, order: Partial<clones.CloneOrder>, message = name): Promise<void> {
    const at = new Date().toISOString();
    const data = { name, id: `id-${name}`, source: "source", lock, by: "usr-staff", at, ...order };
    const subject = eventSubject(clones.cloned, data);
    await fixture.lifecycleMesh.publish([
      { id: `cloned-${message}`, subject, body: Buffer.from(JSON.stringify(data)) },
    ]);
  }

  /** The object of a clone, as lifecycle makes it. */
  async function addClone(name: string): Promise<void> {
    const object = await fixture.kube.create(lockedServers, {
      apiVersion: "svc.internal/v1alpha1",
      kind: "MinecraftServer",
      metadata: { name, namespace, annotations: { [maintenanceAnnotation]: lock } },
      spec: {
        subdomain: name,
        image: "svc.local/nothing",
        desiredState: "Stopped",
        storage: { size: "1Gi" },
      },
    } as never);
    const status = { phase: "Stopped", observedGeneration: object.metadata.generation };
    await fixture.kube.patch(
      lockedServers,
      { name, namespace },
      { merge: { status }, subresource: "status" },
    );
  }

  async function worldOf(name: string): Promise<Record<string, string>> {
    const claim = await fixture.kube.get(resources.claims, { name: `world-${name}-0`, namespace });
    const volume = await fixture.kube.get(volumes, { name: claim.spec?.volumeName ?? "" });
    const { hostPath, local } =
      (volume as { spec?: Record<string, { path: string } | undefined> }).spec ?? {};
    return readFiles((hostPath ?? local)?.path ?? "");
  }

  const untilState = async (name: string, state: origins.OriginState) => {
    await until(async () => (await read(name).catch(() => undefined))?.state === state, 60_000);
    return read(name);
  };

  async function assertArrived(name: string): Promise<void> {
    const origin = await untilState(name, "done");
    assert.deepEqual(await worldOf(name), files);
    assert.equal(await lockOf(name), undefined);
    assert.ok(origin?.finished_at);
  }

  test("comes from the backup into a volume of its own, and unlocks the clone", async () => {
    assert.deepEqual(await choose({ is_new: false }), { backup_id: backupId });
    await addClone("plain");
    await send("plain", { backup_id: backupId });
    await assertArrived("plain");
    const [job] = await jobsOf("plain");
    assert.deepEqual([job?.kind, job?.state, job?.restore_backup_id], ["restore", "succeeded", backupId]);
  });

  test("is brought once although the order comes three times", async () => {
    await addClone("thrice");
    for (const time of [1, 2, 3]) await send("thrice", { backup_id: backupId }, `thrice-${time}`);
    await assertArrived("thrice");
    await send("thrice", { backup_id: backupId }, "thrice-late");
    assert.equal((await jobsOf("thrice")).length, 1);
  });

  test("comes from a new backup of the source", async () => {
    assert.deepEqual(await choose({ is_new: true }), {});
    const count = (await list("source")).length;
    await addClone("fresh");
    await send("fresh", {});
    await assertArrived("fresh");
    const made = await list("source");
    assert.equal(made.length, count + 1);
    assert.equal((await read("fresh"))?.backup_id, made[0]?.id);
  });

  test("is there for those who see the clone, and nobody else", async () => {
    fixture.servers.owners.set("plain", "usr-2");
    assert.equal((await read("plain", account("usr-2")))?.source, "source");
    assert.equal(await faultOf(read("plain", account("usr-3"))), "forbidden");
    assert.equal(await read("source"), undefined);
    assert.equal(await faultOf(read("nowhere")), "not_found");
  });

  test("a backup that cannot be used is refused before anything is made", async () => {
    assert.equal(await faultOf(choose({ is_new: false, backup_id: "bk-none" })), "no_backup");
    assert.equal(await faultOf(choose({ is_new: false, backup_id: backupId }, "plain")), "no_backup");
    assert.equal(await faultOf(choose({ is_new: false }, "plain")), "no_backup");
    await assert.rejects(choose({ is_new: false }, "plain"), /plain has no backup yet/);
    assert.equal(await faultOf(choose({ is_new: false }, "nowhere")), "not_found");
  });

  test("a new backup of a source that runs or is worked on is refused at once", async () => {
    await addClone("busy");
    assert.equal(await faultOf(choose({ is_new: true }, "busy")), "no_world_volume");
    fixture.servers.overrides.set("source", { stopped: false });
    assert.equal(await faultOf(choose({ is_new: true })), "not_stopped");
    fixture.servers.overrides.delete("source");
  });

  test("a source that was started before its backup began fails the clone, which stays locked", async () => {
    fixture.servers.overrides.set("source", { stopped: false });
    await addClone("late");
    await send("late", {});
    assert.equal((await untilState("late", "failed"))?.code, "source_not_stopped");
    fixture.servers.overrides.delete("source");
    assert.equal(await lockOf("late"), lock);
    assert.equal(
      await faultOf(fixture.external.call(backups.restore, { name: "late", safety_snapshot: false }, staff)),
      "no_backup",
    );
    const retried = await fixture.external.call(origins.retry, { name: "late", backup_id: backupId }, staff);
    assert.deepEqual([retried.origin.state, retried.origin.attempt], ["restoring", 2]);
    await assertArrived("late");
  });

  test("a failed clone says why, is retried on request only, and once", async () => {
    fixture.pauseAt("restore");
    await addClone("failing");
    await send("failing", { backup_id: backupId });
    await until(() => fixture.pidAt("restore") !== undefined, 30_000);
    process.kill(fixture.pidAt("restore") ?? 0, "SIGKILL");
    fixture.resumeAt("restore");
    const failed = await untilState("failing", "failed");
    assert.deepEqual([failed?.code, failed?.attempt], ["job_failed", 1]);
    assert.equal(await lockOf("failing"), lock);
    const retry = () => faultOf(fixture.external.call(origins.retry, { name: "failing" }, staff));
    assert.deepEqual((await Promise.all([retry(), retry(), retry()])).sort(), [
      "clone_not_failed",
      "clone_not_failed",
      "none",
    ]);
    await assertArrived("failing");
    assert.equal(await retry(), "clone_not_failed");
    await until(() => fixture.audits.some(({ action }) => action === "server.clone-retry"));
  });

  test("a clone that is deleted before its world is there is unlocked for the reaper and never started", async () => {
    await addClone("unwanted");
    fixture.servers.overrides.set("unwanted", {
      retiring: { requested_at: new Date().toISOString(), delete: true },
    });
    await send("unwanted", { backup_id: backupId });
    await untilState("unwanted", "given_up");
    assert.equal(await lockOf("unwanted"), undefined);
    assert.equal((await jobsOf("unwanted")).length, 0);
    fixture.servers.overrides.delete("unwanted");
  });

  test("a lock that somebody else has put in its place is left alone", async () => {
    const other = "migration@2026-02-02T00:00:00.000Z";
    await addClone("taken");
    const merge = { metadata: { annotations: { [maintenanceAnnotation]: other } } };
    await fixture.kube.patch(lockedServers, { name: "taken", namespace }, { merge });
    await send("taken", { backup_id: backupId });
    await untilState("taken", "given_up");
    assert.equal(await lockOf("taken"), other);
  });

  for (const step of ["backup", "backup-done", "restore", "restore-done"]) {
    test(`storage dies while the agent is at "${step}": the whole world arrives`, async () => {
      const name = `dies-${step}`;
      fixture.pauseAt(step);
      await addClone(name);
      await send(name, step.startsWith("backup") ? {} : { backup_id: backupId });
      await until(() => fixture.pidAt(step) !== undefined, 30_000);
      await service?.kill();
      assert.equal(await lockOf(name), lock);
      fixture.resumeAt(step);
      service = await startProcess(fixture);
      await assertArrived(name);
    });
  }

  for (const step of ["the Job is created", "the lock is released"]) {
    test(`storage dies before ${step}: the whole world arrives`, async () => {
      const name = step.replaceAll(" ", "-").toLowerCase();
      await service?.kill();
      const gated = await startGated(fixture, []);
      const reached = gated.pauseAt(step);
      await addClone(name);
      await send(name, { backup_id: backupId });
      await reached;
      assert.equal(await lockOf(name), lock, "it cannot be started yet");
      await gated.kill();
      service = await startProcess(fixture);
      await assertArrived(name);
      assert.equal((await jobsOf(name)).length, 1);
    });
  }

  const outages: [what: string, cut: () => Promise<void>, recover: () => Promise<void>][] = [
    ["PostgreSQL", () => fixture.wire.cut(), () => fixture.wire.recover()],
    ["NATS", () => fixture.nats.kill(), () => fixture.nats.start()],
  ];
  for (const [what, cut, recover] of outages) {
    test(`${what} is away while the world is restored: it arrives at the first attempt`, async () => {
      const name = `without-${what.toLowerCase()}`;
      fixture.pauseAt("restore");
      await addClone(name);
      await send(name, { backup_id: backupId });
      await until(() => fixture.pidAt("restore") !== undefined, 30_000);
      await cut();
      fixture.resumeAt("restore");
      await until(async () => {
        const { items } = await fixture.kube.list(resources.jobs, { namespace });
        return items.every(({ status }) => (status?.active ?? 0) === 0);
      }, 30_000);
      assert.equal(await lockOf(name), lock);
      await recover();
      await assertArrived(name);
      assert.equal((await read(name))?.attempt, 1);
    });
  }

  test("a process that died between the unlocking and its record has nothing to bring again", async () => {
    const merge = { metadata: { annotations: { [maintenanceAnnotation]: null } } };
    fixture.pauseAt("restore-done");
    await addClone("recorded");
    await send("recorded", { backup_id: backupId });
    await until(() => fixture.pidAt("restore-done") !== undefined, 30_000);
    await service?.kill();
    fixture.resumeAt("restore-done");
    await until(async () => {
      const { items } = await fixture.kube.list(resources.jobs, { namespace });
      return items.every(({ status }) => (status?.active ?? 0) === 0);
    }, 30_000);
    await fixture.kube.patch(lockedServers, { name: "recorded", namespace }, { merge });
    service = await startProcess(fixture);
    // The end of the Job is not recorded yet, so that the first look may find neither it nor the lock.
    await until(async () => ["done", "given_up"].includes((await read("recorded"))?.state ?? ""), 60_000);
    assert.deepEqual(await worldOf("recorded"), files);
  });
});
