import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import { worlds } from "@svc/proto";
import { lockedServers, maintenanceAnnotation } from "@svc/world-lock";
import { day, openReaperFixture, type ReaperFixture } from "../testing/reaper/fixture.ts";
import { namespace } from "../testing/worlds.ts";
import type { ReaperDeps } from "./reaper.ts";

describe("the daily run", () => {
  let fixture: ReaperFixture;
  before(async () => {
    fixture = await openReaperFixture();
  });
  after(() => fixture?.close());

  const present = async (name: string) =>
    (await fixture.backupsOf(name)).filter(({ status }) => status === "present");
  const lockOf = async (name: string) =>
    (await fixture.base.kube.get(lockedServers, { name, namespace })).metadata.annotations?.[
      maintenanceAnnotation
    ];
  const releasedAs = (name: string) =>
    fixture.base.servers.released.find((one) => one.name === name)?.outcome;

  test("an idle world is archived, its volume deleted and its server released", async () => {
    await fixture.addIdle("idle", { owner: "usr-1" });
    const run = await fixture.runOnce();
    assert.equal(run.state, "succeeded", JSON.stringify(run));
    assert.deepEqual([run.summary["evaluated"], run.summary["reaped"]], [1, 1]);
    const [backup] = await present("idle");
    assert.deepEqual([backup?.reason, backup?.former_owner], ["inactive_15d", "usr-1"]);
    assert.ok(await fixture.isArchived("idle"));
    assert.equal(await fixture.hasVolume("idle"), false);
    assert.equal(releasedAs("idle"), "reclaimed");
    assert.equal(await lockOf("idle"), undefined);
    assert.deepEqual(fixture.letters, [{ user: "usr-1", kind: "world-reclaimed" }]);
  });

  test("a world that is given up is archived with reason `released`, and a deletion removes the object too", async () => {
    const retiring = { requested_at: new Date().toISOString(), delete: false };
    await fixture.addIdle("given-up", { owner: "usr-1" });
    fixture.base.servers.lastActive.set("given-up", new Date());
    fixture.base.servers.overrides.set("given-up", { retiring });
    await fixture.addIdle("unwanted", { owner: "usr-1" });
    fixture.base.servers.overrides.set("unwanted", { retiring: { ...retiring, delete: true } });
    for (const name of ["given-up", "unwanted", "somebody-elses"])
      await fixture.base.database.admin(
        `insert into storage.file_versions values ($1, $1, 'a.yml', 'a', $2, 1, 'usr-1', now())`,
        [name, "0".repeat(64)],
      );
    const run = await fixture.runOnce();
    assert.deepEqual([run.summary["released"], run.summary["deleted"]], [1, 1], JSON.stringify(run));
    for (const name of ["given-up", "unwanted"]) {
      assert.equal((await present(name))[0]?.reason, "released");
      assert.equal(await fixture.hasVolume(name), false);
    }
    assert.equal(await fixture.base.kube.find(lockedServers, { name: "unwanted", namespace }), undefined);
    const kept = await fixture.base.database.admin("select server_name from storage.file_versions");
    assert.deepEqual(kept, [{ server_name: "somebody-elses" }]);
  });

  test("a running world is stopped and left to the next run, and so is a locked one", async () => {
    await fixture.addIdle("busy", { owner: "usr-1" });
    await fixture.addIdle("held", { owner: "usr-1" });
    const patch = (name: string, merge: unknown, status = false) =>
      fixture.base.kube.patch(
        lockedServers,
        { name, namespace },
        { merge, ...(status && { subresource: "status" as const }) },
      );
    await patch("busy", { spec: { desiredState: "Running" } });
    await patch("busy", { status: { phase: "Running" } }, true);
    const lock = `backup@${new Date().toISOString()}`;
    await patch("held", { metadata: { annotations: { [maintenanceAnnotation]: lock } } });
    const run = await fixture.runOnce();
    assert.equal(run.summary["awaiting_stop"], 2, JSON.stringify(run));
    assert.equal(run.state, "succeeded");
    assert.equal(
      (await fixture.base.kube.get(lockedServers, { name: "busy", namespace })).spec.desiredState,
      "Stopped",
    );
    assert.equal(await lockOf("held"), lock);
    await patch("held", { metadata: { annotations: { [maintenanceAnnotation]: null } } });
    assert.equal((await fixture.runOnce()).summary["reaped"], 2);
  });

  test("with a bucket the volume is kept until the off-site copy exists; the archive is reused, verified and compared", async () => {
    await fixture.addIdle("copied", { owner: "usr-1" });
    const overrides = ["offsite.bucket=copies"];
    assert.equal((await fixture.runOnce({ overrides })).summary["awaiting_offsite"], 1);
    assert.equal(await fixture.hasVolume("copied"), true);
    assert.equal(await lockOf("copied"), undefined);
    const again = await fixture.runOnce({ overrides });
    assert.deepEqual([again.summary["awaiting_offsite"], again.summary["verified"]], [1, 1]);
    const [backup, ...more] = await present("copied");
    assert.equal(more.length, 0);
    await fixture.base.database.admin("update storage.world_backups set offsite_at = now() where id = $1", [
      backup?.id,
    ]);
    assert.equal((await fixture.runOnce({ overrides })).summary["reaped"], 1);
    assert.equal(await fixture.hasVolume("copied"), false);
  });

  test("a world that changed since its archive was made is archived again", async () => {
    await fixture.addIdle("edited", { owner: "usr-1" });
    const overrides = ["offsite.bucket=copies"];
    await fixture.runOnce({ overrides });
    fixture.base.changeWorld("edited", {
      "level.dat": "edited by hand",
      "region/r.0.0.mca": "edited chunks",
    });
    const run = await fixture.runOnce();
    assert.equal(run.summary["reaped"], 1, JSON.stringify(run));
    assert.equal((await present("edited")).length, 2);
    assert.ok(run.notes.some((text) => text.includes("changed since its archive")));
  });

  test("an archive found corrupt is marked, and another one is made before the world is deleted", async () => {
    await fixture.addIdle("rotten", { owner: "usr-1" });
    await fixture.runOnce({ overrides: ["offsite.bucket=copies"] });
    const [bad] = await present("rotten");
    const bytes = readFileSync(bad?.backup_ref ?? "");
    truncateSync(bad?.backup_ref ?? "", statSync(bad?.backup_ref ?? "").size - 10);
    const run = await fixture.runOnce();
    assert.deepEqual(
      [run.summary["corrupt"], run.summary["reaped"], run.state],
      [1, 1, "failed"],
      JSON.stringify(run),
    );
    const [good] = await present("rotten");
    assert.notEqual(good?.id, bad?.id);
    assert.ok(await fixture.isArchived("rotten"));
    const again = await fixture.runOnce({ retentionOnly: true });
    assert.deepEqual([again.summary["corrupt"], again.state], [0, "succeeded"], "it is told once");
    writeFileSync(bad?.backup_ref ?? "", bytes);
    const third = await fixture.runOnce({ retentionOnly: true });
    assert.ok(third.notes.some((text) => text.includes(`${bad?.id} of rotten is whole again`)));
    assert.deepEqual(
      (await present("rotten")).map(({ corrupt_at }) => corrupt_at),
      [null, null],
      "a backup whose archive was only unavailable can be restored when it is back",
    );
  });

  test("a world that cannot be archived is kept, and the run reports it", async () => {
    await fixture.addIdle("stuck", { owner: "usr-1" });
    const run = await fixture.runOnce({ overrides: ["storage.keep_free=1"] });
    assert.deepEqual([run.summary["skipped"], run.state], [1, "failed"], JSON.stringify(run));
    assert.equal(await fixture.hasVolume("stuck"), true);
    assert.equal((await present("stuck")).length, 0);
    assert.equal((await fixture.runOnce()).summary["reaped"], 1);
  });

  test("a world with folders deeper than the longest path is archived and deleted like any other", async () => {
    await fixture.addIdle("deep", { owner: "usr-1", files: { "level.dat": "deep" } });
    const chain =
      "d=dddddddddddddddddddd; for i in $(seq 300); do mkdir $d && cd -P $d || exit 1; done; echo in > in.txt";
    execFileSync("sh", ["-c", chain], { cwd: fixture.base.worldPath("deep") });
    const run = await fixture.runOnce();
    assert.deepEqual([run.state, run.summary["reaped"]], ["succeeded", 1], JSON.stringify(run));
    assert.equal((await present("deep"))[0]?.skipped_entries, 0);
    assert.equal(await fixture.hasVolume("deep"), false);
    // The volume's object is gone; this cluster leaves its folder on the disk.
    execFileSync("rm", ["-rf", fixture.base.worldPath("deep")]);
  });

  test("a world with unreadable files is kept, archived once, and fails no run", async () => {
    await fixture.addIdle("unreadable", { owner: "usr-1" });
    const { admin } = fixture.base.database;
    await admin(`create function storage.lose() returns trigger language plpgsql as
      $$ begin new.unreadable_entries = 2; return new; end $$`);
    await admin(`create trigger lose before insert on storage.world_backups for each row
      when (new.server_name = 'unreadable') execute function storage.lose()`);
    for (const attempt of [1, 2]) {
      const run = await fixture.runOnce();
      assert.deepEqual(
        [run.state, run.summary["reaped"]],
        ["succeeded", 0],
        `${attempt} ${JSON.stringify(run)}`,
      );
      assert.ok(run.notes.some((text) => text.startsWith("unreadable stays: 2 of its files cannot be read")));
      assert.equal((await present("unreadable")).length, 1);
      assert.equal(await fixture.hasVolume("unreadable"), true);
    }
    await admin("drop trigger lose on storage.world_backups");
    await admin("update storage.world_backups set unreadable_entries = 0 where server_name = 'unreadable'");
    assert.equal((await fixture.runOnce()).summary["reaped"], 1);
  });

  test("with a full store a world is kept until evicted manual backups make room, and an only copy is never evicted", async () => {
    await fixture.addIdle("large", { owner: "usr-1" });
    const full = await fixture.runOnce({ overrides: ['archive.max_local_bytes="1"'] });
    assert.deepEqual([full.summary["store_full"], full.summary["evicted"]], [1, 0], JSON.stringify(full));
    assert.equal(await fixture.hasVolume("large"), true);
    await fixture.addIdle("rich", { owner: "usr-1" });
    fixture.base.servers.lastActive.set("rich", new Date());
    const total = await fixture.base.database.admin(
      "select sum(size_bytes)::int as sum from storage.world_backups where status = 'present'",
    );
    const used = Number(total[0]?.["sum"]);
    const ref = join(fixture.base.archiveDir, "rich-1.tar.zst");
    writeFileSync(ref, "manual");
    await fixture.base.database.admin(
      `insert into storage.world_backups
         (id, server_name, former_owner, backup_ref, size_bytes, reason, expires_at, sha256, verified_at)
       values ('bk-rich', 'rich', 'usr-1', $1, 5000, 'manual', now() + interval '1 day', repeat('0', 64), now())`,
      [ref],
    );
    const run = await fixture.runOnce({ overrides: [`archive.max_local_bytes="${used + 100}"`] });
    assert.deepEqual([run.summary["evicted"], run.summary["reaped"]], [1, 1], JSON.stringify(run));
    assert.equal(existsSync(ref), false);
    assert.ok(run.notes.some((text) => text.includes("bk-rich of rich was deleted")));
    assert.equal((await fixture.backupsOf("rich"))[0]?.status, "deleted");
  });

  test("owners are warned once per window, and a mail that was not accepted is not recorded", async () => {
    await fixture.addIdle("soon", { owner: "usr-9" });
    fixture.base.servers.lastActive.set("soon", new Date(Date.now() - 12.5 * day));
    for (const answer of ["suppressed", "down"] as const) {
      fixture.mail.answer = answer;
      assert.equal((await fixture.runOnce()).summary["warned"], 0);
      assert.equal(fixture.base.servers.overrides.get("soon")?.warned_3d_at, undefined);
    }
    fixture.mail.answer = "delivered";
    assert.equal((await fixture.runOnce()).summary["warned"], 1);
    assert.equal((await fixture.runOnce()).summary["warned"], 0);
    fixture.base.servers.lastActive.set("soon", new Date(Date.now() - 14.5 * day));
    fixture.base.servers.overrides.set("soon", {});
    assert.equal((await fixture.runOnce()).summary["warned"], 1);
    assert.deepEqual(
      fixture.letters.filter(({ user }) => user === "usr-9").map(({ kind }) => kind),
      ["world-idle-3d", "world-idle-1d"],
    );
    fixture.base.servers.lastActive.set("soon", new Date());
  });

  test("without its volume an archived world is only released, and without an owner its idle period restarts", async () => {
    const gone = (name: string) =>
      fixture.base.servers.overrides.set(name, { volume_claim: `nothing-${name}` });
    await fixture.addIdle("empty");
    await fixture.addIdle("bare", { owner: "usr-1" });
    gone("empty");
    gone("bare");
    const run = await fixture.runOnce();
    assert.equal(run.summary["reaped"], 1, JSON.stringify(run));
    assert.equal(releasedAs("bare"), "reclaimed");
    assert.equal(releasedAs("empty"), undefined);
    assert.ok((fixture.base.servers.lastActive.get("empty")?.getTime() ?? 0) > Date.now() - day);
  });

  test("a deletion whose object is gone waits while any volume of the server exists", async () => {
    await fixture.addIdle("torn", { owner: "usr-1" });
    const retiring = { requested_at: new Date().toISOString(), delete: true };
    const volume_claim = "world-torn-gone";
    fixture.base.servers.overrides.set("torn", { exists: false, retiring, volume_claim });
    const target = { name: "world-torn-0", namespace };
    const merge = { metadata: { labels: { "svc.internal/server": "torn" } } };
    await fixture.base.kube.patch(resources.claims, target, { merge });
    const run = await fixture.runOnce();
    assert.deepEqual([run.summary["skipped"], run.summary["deleted"]], [1, 0], JSON.stringify(run));
    assert.ok(run.notes.some((text) => text.includes("world-torn-0")));
    await fixture.base.kube.remove(resources.claims, target);
    assert.equal((await fixture.runOnce()).summary["deleted"], 1);
  });

  test("with clock skew to the database nothing is expired, and the run reports it", async () => {
    await fixture.addIdle("timeless", { owner: "usr-1" });
    fixture.base.servers.lastActive.set("timeless", new Date());
    const before = fixture.archives();
    assert.ok(before.length > 0);
    fixture.clock.aheadMs = 200 * day;
    const run = await fixture.runOnce();
    fixture.clock.aheadMs = 0;
    assert.equal(run.state, "failed");
    assert.match(run.message ?? "", /clock/);
    assert.deepEqual(fixture.archives(), before);
    assert.equal(await fixture.hasVolume("timeless"), true);
  });

  test("expired archives are deleted, pinned ones are kept", async () => {
    const before = fixture.archives().length;
    const rows = await fixture.base.database.admin(
      "select id, backup_ref from storage.world_backups where status = 'present' order by id limit 3",
    );
    const [over, givenUp, pinned] = rows.map((row) => String(row["id"]));
    const set = (id: string | undefined, what: string) =>
      fixture.base.database.admin(`update storage.world_backups set ${what} where id = $1`, [id]);
    await set(over, "expires_at = now() - interval '1 minute'");
    await set(givenUp, "status = 'expired', expires_at = now()");
    await set(pinned, "expires_at = now() - interval '1 minute', pinned_at = now()");
    const run = await fixture.runOnce({ retentionOnly: true });
    assert.deepEqual([run.summary["expired"], run.summary["evaluated"]], [2, 0], JSON.stringify(run));
    assert.equal(fixture.archives().length, before - 2);
    const left = await fixture.base.database.admin(
      "select id, status from storage.world_backups where id = any($1)",
      [[over, givenUp, pinned]],
    );
    assert.deepEqual(
      new Map(left.map((row) => [row["id"], row["status"]])),
      new Map([
        [over, "deleted"],
        [givenUp, "deleted"],
        [pinned, "present"],
      ]),
    );
  });

  test("archives not verified for a week are verified, a few in each run", async () => {
    await fixture.base.database.admin(
      "update storage.world_backups set verified_at = now() - interval '8 days' where status = 'present'",
    );
    const [count] = await fixture.base.database.admin(
      "select count(*)::int as n from storage.world_backups where status = 'present' and corrupt_at is null",
    );
    const all = Number(count?.["n"]);
    assert.ok(all > 2);
    const overrides = [`storage.reaper_read_backs=${all - 1}`];
    assert.equal((await fixture.runOnce({ overrides, retentionOnly: true })).summary["verified"], all - 1);
    assert.equal((await fixture.runOnce({ overrides, retentionOnly: true })).summary["verified"], 1);
    assert.equal((await fixture.runOnce({ overrides, retentionOnly: true })).summary["verified"], 0);
  });

  test("old partial files and orphans past the retention are deleted, younger orphans are listed, nothing else is touched", async () => {
    const put = (name: string, ageMs: number) => {
      writeFileSync(join(fixture.base.archiveDir, name), "x");
      const at = new Date(Date.now() - ageMs);
      utimesSync(join(fixture.base.archiveDir, name), at, at);
    };
    put(".alpha-1.tar.zst.partial", 7 * 3_600_000);
    put(".alpha-2.tar.zst.partial", 5 * 3_600_000);
    put("alpha-3.tar.gz", 100 * day);
    put("alpha-4.tar.zst", day);
    put("notes.txt", 1_000 * day);
    const run = await fixture.runOnce({ retentionOnly: true });
    assert.deepEqual([run.summary["swept"], run.summary["orphan_archives"]], [2, 1], JSON.stringify(run));
    const left = [
      ".alpha-1.tar.zst.partial",
      ".alpha-2.tar.zst.partial",
      "alpha-3.tar.gz",
      "alpha-4.tar.zst",
      "notes.txt",
    ];
    assert.deepEqual(
      left.map((name) => existsSync(join(fixture.base.archiveDir, name))),
      [false, true, false, true, true],
    );
    assert.ok(run.notes.some((text) => text.includes("alpha-4.tar.zst")));
  });

  test("an unreadable archive folder fails the run and loses nothing", async () => {
    const run = await fixture.runOnce({
      retentionOnly: true,
      overrides: ["archive.local_path=/nowhere/at/all"],
    });
    assert.deepEqual([run.state, run.summary["swept"]], ["failed", 0]);
  });

  const pairs: [overrides: string[], most: number, fact: string][] = [
    [[], 2, "two worlds are reaped at the same time"],
    [["archive.max_local_bytes=1Ti"], 1, "with a capped store two worlds are reaped one after the other"],
  ];
  for (const [overrides, most, fact] of pairs) {
    test(fact, async () => {
      const names = [`pair-${most}-a`, `pair-${most}-b`];
      for (const name of names) await fixture.addIdle(name, { owner: "usr-1" });
      const held = new Set<string>();
      const atOnce = Promise.withResolvers<void>();
      let seen = 0;
      const change = (deps: ReaperDeps): ReaperDeps => {
        const call: ReaperDeps["mesh"]["call"] = async (contract, input, options) => {
          const { name = "" } = input as { name?: string };
          if (contract.subject === worlds.holdWorld.subject && names.includes(name)) {
            held.add(name);
            seen = Math.max(seen, held.size);
            if (held.size === most) atOnce.resolve();
            await atOnce.promise;
          }
          if (contract.subject === worlds.releaseWorld.subject) held.delete(name);
          return deps.mesh.call(contract, input, options);
        };
        return { ...deps, mesh: { call, audit: deps.mesh.audit } };
      };
      await fixture.runOnce({ overrides, change });
      assert.equal(seen, most);
      for (const name of names) assert.equal(await fixture.hasVolume(name), false);
    });
  }
});
