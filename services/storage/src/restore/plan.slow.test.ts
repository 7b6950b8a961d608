import assert from "node:assert/strict";
import { unlinkSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import type { Mesh } from "@svc/mesh";
import { account, faultOf, staff, until } from "@svc/mesh/testing";
import { type AccessLimits, backups, type MemberRight, restorePlans } from "@svc/proto";
import { lockedServers } from "@svc/world-lock";
import { type Fixture, openFixture } from "../testing/fixture.ts";
import { namespace } from "../testing/worlds.ts";

const first = { "level.dat": "one", "region/r.0.0.mca": "chunks", "region/r.0.1.mca": "more" };
const second = { "level.dat": "longer", "region/r.0.0.mca": "chunks", "plugins/new.jar": "added later" };
const name = "survival";

describe("the plan of a restore", () => {
  let fixture: Fixture;
  let operator: Mesh;
  let id = "";
  before(async () => {
    fixture = await openFixture();
    await fixture.start();
    operator = await fixture.nats.connect("operator");
    await fixture.addServer(name, "usr-1", first);
    await backUp();
    id = (await newest()).id;
    fixture.changeWorld(name, second);
  });
  after(async () => {
    await operator?.drain(500);
    await fixture?.close();
  });

  const owner = account("usr-1");
  const newest = async () => {
    const page = { server: name, limit: 1, offset: 0 };
    const [found] = (await fixture.external.call(backups.list, page, staff)).backups;
    assert.ok(found);
    return found;
  };
  const backUp = async () => {
    await fixture.external.call(backups.create, { name }, staff);
    const jobs = async () => (await fixture.external.call(backups.listJobs, { name }, staff)).jobs;
    await until(async () => (await jobs()).every(({ state }) => state !== "running"), 30_000);
  };
  type Asked = { name?: string; backup_id?: string; only?: string[] };
  const plan = (asked: Asked = {}, as = owner) =>
    fixture.external.call(restorePlans.plan, { name, ...asked }, as);
  const wordsOf = ({ files }: restorePlans.RestorePlan) => files.map((file) => `${file.change} ${file.path}`);
  const jobsLeft = async () => {
    const { items } = await fixture.kube.list(resources.jobs, { namespace });
    return items.filter(({ metadata }) => metadata.name.startsWith("plan-")).length;
  };
  const share = (rights: readonly MemberRight[], limits?: AccessLimits) =>
    fixture.servers.overrides.set(name, {
      members: [{ user_id: "usr-2", rights: [...rights], ...(limits && { limits }) }],
    });
  const setPhase = async (phase: "Running" | "Stopped") => {
    const target = { name, namespace };
    await fixture.kube.patch(lockedServers, target, { merge: { spec: { desiredState: phase } } });
    const status = { merge: { status: { phase } }, subresource: "status" as const };
    await fixture.kube.patch(lockedServers, target, status);
  };

  test("says what the world has otherwise than the backup, to owner, staff and operator, and leaves no Job", async () => {
    const found = await plan();
    assert.deepEqual(wordsOf(found), [
      "changed level.dat",
      "removed plugins/new.jar",
      "added region/r.0.1.mca",
    ]);
    const { added, changed, removed, same, may_be_same, truncated } = found;
    assert.deepEqual([added, changed, removed, same, may_be_same, truncated], [1, 1, 1, 1, 0, false]);
    assert.deepEqual([found.added_bytes, found.changed_bytes, found.removed_bytes], [4, 3, 11]);
    const { created_at } = await newest();
    assert.deepEqual([found.name, found.backup_id, found.backup_at], [name, id, created_at]);
    assert.deepEqual(await plan({ backup_id: id }, staff), found);
    assert.deepEqual(await operator.call(restorePlans.planByOperator, { id }), found);
    await until(async () => (await jobsLeft()) === 0);
    assert.deepEqual(fixture.worldOf(name), second, "nothing was changed");
  });

  test("of some files names these alone, and removes nothing", async () => {
    assert.deepEqual(wordsOf(await plan({ only: ["region", "level.dat"] })), [
      "changed level.dat",
      "added region/r.0.1.mca",
    ]);
    const one = await operator.call(restorePlans.planByOperator, { id, only: ["region/"] });
    assert.deepEqual([wordsOf(one), one.same], [["added region/r.0.1.mca"], 1]);
  });

  test("refuses what is no path, no backup, no server and what the backup does not have", async () => {
    const refusals: [asked: Asked, fault: string][] = [
      [{ only: ["../up"] }, "bad_path"],
      [{ only: ["/etc"] }, "bad_path"],
      [{ only: ["plugins/new.jar"] }, "not_found"],
      [{ only: ["level.dat/below"] }, "not_found"],
      [{ only: [] }, "bad_request"],
      [{ only: Array.from({ length: 101 }, (_, n) => `f${n}`) }, "bad_request"],
      [{ backup_id: "bk-none" }, "no_backup"],
      [{ name: "nobody" }, "not_found"],
      [{ name: "login" }, "bad_name"],
    ];
    for (const [asked, fault] of refusals)
      assert.equal(await faultOf(plan(asked)), fault, JSON.stringify(asked));
    assert.equal(await faultOf(operator.call(restorePlans.planByOperator, { id: "bk-none" })), "no_backup");
    fixture.changeWorld(name, { ...second, "region/r.0.1.mca/inner": "a folder now" });
    assert.equal(await faultOf(plan({ only: ["region/r.0.1.mca"] })), "bad_path");
    fixture.changeWorld(name, second);
  });

  test("of a running server is refused, as its restore is", async () => {
    await setPhase("Running");
    assert.equal(await faultOf(plan()), "not_stopped");
    assert.equal(await faultOf(operator.call(restorePlans.planByOperator, { id })), "not_stopped");
    await setPhase("Stopped");
  });

  test("is for whoever may restore, read the backup and read the world", async () => {
    const member = account("usr-2");
    const needed = ["see", "backups.restore", "backups.download", "files.read"] as const;
    assert.equal(await faultOf(plan({}, member)), "forbidden");
    for (const missing of needed.slice(1)) {
      share(needed.filter((right) => right !== missing));
      assert.equal(await faultOf(plan({}, member)), "forbidden", `without ${missing}`);
    }
    share(needed);
    assert.equal((await plan({}, member)).changed, 1);
    for (const limits of [{ read_paths: ["region"] }, { write_paths: ["region"] }]) {
      share(needed, limits);
      const what = JSON.stringify(limits);
      assert.equal(await faultOf(plan({}, member)), "path_not_shared", what);
      assert.equal(await faultOf(plan({ only: ["region", "level.dat"] }, member)), "path_not_shared", what);
      assert.equal((await plan({ only: ["region"] }, member)).added, 1, what);
    }
    fixture.servers.overrides.delete(name);
    fixture.servers.owners.set(name, "usr-3");
    assert.equal(await faultOf(plan({ backup_id: id }, account("usr-3"))), "forbidden", "the next owner");
    assert.equal(await faultOf(plan({ backup_id: id }, owner)), "forbidden", "the former owner");
    fixture.servers.owners.set(name, "usr-1");
  });

  test("of a Job that is killed is unavailable; nothing is changed, and the next one is whole", async () => {
    for (const step of ["plan", "plan-done"]) {
      fixture.pauseAt(step);
      const asked = faultOf(plan());
      await until(() => fixture.pidAt(step) !== undefined, 30_000);
      process.kill(fixture.pidAt(step) ?? 0, "SIGKILL");
      assert.equal(await asked, "unavailable", step);
      fixture.resumeAt(step);
      assert.deepEqual(fixture.worldOf(name), second);
      await until(async () => (await jobsLeft()) === 0);
    }
    assert.equal((await plan()).changed, 1);
  });

  test("holds no world: a backup is made while it is", async () => {
    fixture.pauseAt("plan");
    const asked = plan();
    await until(async () => (await jobsLeft()) > 0);
    await backUp();
    fixture.resumeAt("plan");
    assert.equal((await asked).changed, 1);
  });

  test("while lifecycle is away is unavailable", async () => {
    fixture.servers.isDown = true;
    assert.equal(await faultOf(plan()), "unavailable");
    fixture.servers.isDown = false;
  });

  test("without a volume has every file of the backup; single files need one", async () => {
    await fixture.kube.remove(resources.claims, { name: `world-${name}-0`, namespace });
    const found = await plan({ backup_id: id });
    assert.deepEqual([found.added, found.changed, found.removed, found.same], [3, 0, 0, 0]);
    assert.equal(await faultOf(plan({ backup_id: id, only: ["region"] })), "no_world_volume");
  });

  test("of a backup whose archive is gone is refused", async () => {
    const [row] = await fixture.database.admin("select backup_ref from storage.world_backups where id = $1", [
      id,
    ]);
    unlinkSync(join(fixture.archiveDir, String(row?.["backup_ref"]).split("/").at(-1) ?? ""));
    assert.equal(await faultOf(plan({ backup_id: id })), "backup_corrupt");
    await fixture.database.admin("update storage.world_backups set corrupt_at = now() where id = $1", [id]);
    assert.equal(await faultOf(plan({ backup_id: id })), "backup_corrupt");
    assert.equal(await faultOf(operator.call(restorePlans.planByOperator, { id })), "backup_corrupt");
  });
});
