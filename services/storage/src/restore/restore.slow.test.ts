import assert from "node:assert/strict";
import { readdirSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import { account, faultOf, staff, until } from "@svc/mesh/testing";
import { backups } from "@svc/proto";
import { lockedServers } from "@svc/world-lock";
import { type Fixture, openFixture } from "../testing/fixture.ts";
import { namespace, readFiles, volumes } from "../testing/worlds.ts";

const first = { "level.dat": "one", "region/r.0.0.mca": "chunks" };
const second = { "level.dat": "two", "region/r.0.0.mca": "changed", "plugins/new.jar": "added later" };

describe("restores of worlds", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await openFixture();
    await fixture.start();
  });
  after(() => fixture?.close());

  const owner = account("usr-1");
  const jobsOf = async (server_name: string) =>
    (await fixture.external.call(backups.listJobs, { name: server_name }, staff)).jobs;
  const settled = async (name: string) => {
    const isOpen = (job: backups.WorldJob) => job.state === "running" || job.then_restore === "pending";
    await until(async () => !(await jobsOf(name)).some(isOpen), 30_000);
    return jobsOf(name);
  };
  const backUp = async (name: string) => {
    await fixture.external.call(backups.create, { name }, staff);
    await settled(name);
    const page = { server: name, limit: 1, offset: 0 };
    return (await fixture.external.call(backups.list, page, staff)).backups[0]?.id ?? "";
  };
  const restore = (
    name: string,
    input: { backup_id?: string; safety_snapshot?: boolean; only?: string[] } = {},
    as = owner,
  ) => fixture.external.call(backups.restore, { name, safety_snapshot: true, ...input }, as);
  const archiveOf = async (id: string) => {
    const [row] = await fixture.database.admin("select backup_ref from storage.world_backups where id = $1", [
      id,
    ]);
    return join(fixture.archiveDir, String(row?.["backup_ref"]).split("/").at(-1) ?? "");
  };

  test("a restore takes a safety snapshot first, then the world is bit for bit the content of the backup", async () => {
    await fixture.addServer("survival", "usr-1", first);
    const backup_id = await backUp("survival");
    fixture.changeWorld("survival", second);
    assert.deepEqual(await restore("survival"), {
      name: "survival",
      status: "restoring",
      backup_id,
      safety_snapshot: true,
    });
    const [restored, snapshot] = await settled("survival");
    assert.deepEqual(
      [restored?.kind, restored?.state, restored?.restore_backup_id],
      ["restore", "succeeded", backup_id],
    );
    assert.deepEqual([snapshot?.kind, snapshot?.then_restore], ["backup", "started"]);
    assert.deepEqual(fixture.worldOf("survival"), first);
    await until(() => fixture.audits.some(({ action }) => action === "backup.restore"));
  });

  test("a server without a volume gets one with the world in it, and nothing is backed up first", async () => {
    const server = { name: "lost", namespace };
    const claim = { name: "world-lost-0", namespace };
    await fixture.addServer("lost", "usr-1", first);
    const backup_id = await backUp("lost");
    await fixture.kube.remove(resources.claims, claim);
    await until(async () => !(await fixture.kube.find(resources.claims, claim)), 30_000);
    assert.equal(await faultOf(restore("lost")), "no_world_volume", "nobody knows the size");
    const merge = { spec: { storage: { size: "1Gi" } } };
    const { metadata } = await fixture.kube.patch(lockedServers, server, { merge });
    const status = { observedGeneration: metadata.generation };
    await fixture.kube.patch(lockedServers, server, { merge: { status }, subresource: "status" });
    assert.equal(await faultOf(restore("lost", { only: ["level.dat"] })), "no_world_volume");
    assert.equal((await restore("lost", { backup_id })).safety_snapshot, false);
    const [restored] = await settled("lost");
    assert.deepEqual(
      [restored?.kind, restored?.state, restored?.message],
      ["restore", "succeeded", undefined],
    );
    const made = await fixture.kube.get(resources.claims, claim);
    assert.equal(made.spec?.resources?.requests?.["storage"], "1Gi");
    const volume = await fixture.kube.get(volumes, { name: made.spec?.volumeName ?? "" });
    const { hostPath, local } =
      (volume as { spec?: Record<string, { path: string } | undefined> }).spec ?? {};
    assert.deepEqual(readFiles((hostPath ?? local)?.path ?? ""), first);
  });

  test("a restore of the safety snapshot brings back the earlier world", async () => {
    const page = { server: "survival", limit: 20, offset: 0 };
    const { backups: rows } = await fixture.external.call(backups.list, page, owner);
    const snapshot = rows.find(({ reason }) => reason === "pre_restore");
    await restore("survival", { backup_id: snapshot?.id ?? "", safety_snapshot: false });
    assert.equal((await settled("survival"))[0]?.state, "succeeded");
    assert.deepEqual(fixture.worldOf("survival"), second);
  });

  test("an owner restores single files, and nothing else in the world changes", async () => {
    fixture.changeWorld("survival", { ...second, "level.dat": "three" });
    assert.equal(await faultOf(restore("survival", { only: ["../up"] })), "bad_path");
    assert.equal(await faultOf(restore("survival", { only: ["level.dat"] }, account("usr-2"))), "forbidden");
    const page = { server: "survival", limit: 20, offset: 0 };
    const rows = (await fixture.external.call(backups.list, page, owner)).backups;
    const backup_id = rows.find(({ reason }) => reason === "manual")?.id ?? "";
    await restore("survival", { backup_id, only: ["region/"], safety_snapshot: false });
    assert.equal((await settled("survival"))[0]?.state, "succeeded");
    assert.deepEqual(fixture.worldOf("survival"), {
      ...second,
      "level.dat": "three",
      "region/r.0.0.mca": "chunks",
    });
  });

  test("from the request to its end a restore has the maintenance lock, and its backup is kept", async () => {
    await fixture.addServer("held", "usr-1", first);
    const backup_id = await backUp("held");
    for (const step of ["backup", "backup-done", "restore", "restore-done"]) fixture.pauseAt(step);
    await restore("held");
    for (const step of ["backup", "backup-done", "restore", "restore-done"]) {
      await until(() => fixture.pidAt(step) !== undefined, 20_000);
      assert.equal(
        await faultOf(fixture.external.call(backups.create, { name: "held" }, staff)),
        "maintenance_in_progress",
        step,
      );
      assert.equal(
        await faultOf(fixture.external.call(backups.expire, { id: backup_id }, staff)),
        "restore_in_progress",
        step,
      );
      assert.equal(await faultOf(restore("held", { backup_id }, staff)), "maintenance_in_progress", step);
      fixture.resumeAt(step);
    }
    await settled("held");
    assert.equal(await faultOf(fixture.external.call(backups.expire, { id: backup_id }, staff)), "none");
  });

  test("each rejection has its code", async () => {
    const id = await backUp("held");
    assert.equal(await faultOf(restore("no")), "bad_name");
    assert.equal(await faultOf(restore("nobody-here")), "not_found");
    assert.equal(await faultOf(restore("held", {}, account("usr-2"))), "forbidden");
    assert.equal(await faultOf(restore("held", { backup_id: "bk-none" })), "no_backup");
    assert.equal(await faultOf(restore("survival", { backup_id: id })), "no_backup");
    fixture.servers.owners.set("held", "usr-2");
    assert.equal(await faultOf(restore("held", { backup_id: id }, account("usr-2"))), "forbidden");
    assert.equal(await faultOf(restore("held", {}, account("usr-2"))), "no_backup");
    fixture.servers.owners.set("held", "usr-1");
    const run = { merge: { spec: { desiredState: "Running" } } };
    await fixture.kube.patch(lockedServers, { name: "held", namespace }, run);
    assert.equal(await faultOf(restore("held", { backup_id: id })), "not_stopped");
    const rest = { merge: { spec: { desiredState: "Stopped" } } };
    await fixture.kube.patch(lockedServers, { name: "held", namespace }, rest);
  });

  test("staff must confirm a restore of a former owner's world into the server of the next one", async () => {
    await fixture.addServer("handed-on", "usr-1", first);
    const former = await backUp("handed-on");
    fixture.servers.owners.set("handed-on", "usr-2");
    fixture.changeWorld("handed-on", second);
    assert.equal(await faultOf(restore("handed-on", {}, staff)), "no_backup");
    assert.deepEqual(fixture.worldOf("handed-on"), second);
    const own = await backUp("handed-on");
    const { backup_id } = await restore("handed-on", { safety_snapshot: false }, staff);
    assert.equal(backup_id, own);
    await settled("handed-on");
    const named = await restore("handed-on", { backup_id: former, safety_snapshot: false }, staff);
    assert.equal(named.backup_id, former);
    await settled("handed-on");
  });

  test("a server whose owner changes during the snapshot keeps its world", async () => {
    await fixture.addServer("claimed", "usr-1", first);
    const backup_id = await backUp("claimed");
    fixture.changeWorld("claimed", second);
    fixture.pauseAt("backup-done");
    await restore("claimed", { backup_id });
    await until(() => fixture.pidAt("backup-done") !== undefined, 20_000);
    fixture.servers.owners.set("claimed", "usr-2");
    fixture.resumeAt("backup-done");
    const [snapshot] = await settled("claimed");
    assert.deepEqual([snapshot?.then_restore, snapshot?.then_restore_reason], ["abandoned", "server_gone"]);
    assert.deepEqual(fixture.worldOf("claimed"), second);
  });

  test("a corrupt archive changes nothing, is marked corrupt, and is never read again", async () => {
    await fixture.addServer("damaged", "usr-1", first);
    const id = await backUp("damaged");
    const path = await archiveOf(id);
    truncateSync(path, statSync(path).size - 20);
    fixture.changeWorld("damaged", second);
    await restore("damaged", { backup_id: id, safety_snapshot: false });
    const [job] = await settled("damaged");
    assert.equal(job?.state, "failed");
    assert.match(job?.message ?? "", /The world is unchanged\.$/);
    assert.equal(job?.code, "backup_corrupt", job?.message);
    assert.deepEqual(fixture.worldOf("damaged"), second);
    const page = { server: "damaged", limit: 20, offset: 0 };
    const { backups: rows } = await fixture.external.call(backups.list, page, owner);
    assert.equal(rows.find((row) => row.id === id)?.corrupt, true, job?.message);
    assert.equal(await faultOf(restore("damaged", { backup_id: id })), "backup_corrupt");
    assert.equal(await faultOf(restore("damaged")), "backup_corrupt");
  });

  test("a server that is gone or running after the snapshot keeps its world, and the job has the reason", async () => {
    await fixture.addServer("leaving", "usr-1", first);
    const backup_id = await backUp("leaving");
    fixture.changeWorld("leaving", second);
    fixture.pauseAt("backup-done");
    await restore("leaving", { backup_id });
    await until(() => fixture.pidAt("backup-done") !== undefined, 20_000);
    const run = { merge: { spec: { desiredState: "Running" } } };
    await fixture.kube.patch(lockedServers, { name: "leaving", namespace }, run);
    fixture.resumeAt("backup-done");
    const [snapshot] = await settled("leaving");
    assert.deepEqual(
      [snapshot?.state, snapshot?.then_restore, snapshot?.then_restore_reason],
      ["succeeded", "abandoned", "server_started"],
    );
    assert.deepEqual(fixture.worldOf("leaving"), second);
    const jobs = await fixture.kube.list(resources.jobs, { namespace });
    assert.equal(
      jobs.items.some(({ metadata }) => metadata.name.startsWith("restore-leaving")),
      false,
    );
    assert.deepEqual(
      readdirSync(fixture.archiveDir).filter((file) => file.includes("partial")),
      [],
    );
  });
});
