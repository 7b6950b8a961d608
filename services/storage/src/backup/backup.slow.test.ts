import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { account, faultOf, ops, retryAfterOf, staff, tokenOf, until } from "@svc/mesh/testing";
import { backups, eventSubject, ownership, rights } from "@svc/proto";
import { lockedServers } from "@svc/world-lock";
import { type Fixture, openFixture } from "../testing/fixture.ts";
import { namespace } from "../testing/worlds.ts";

describe("backups of worlds", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await openFixture();
    await fixture.start();
  });
  after(() => fixture?.close());

  const owner = account("usr-1");
  const create = (name: string, as = owner) => fixture.external.call(backups.create, { name }, as);
  const jobs = async (name: string, as = staff) =>
    (await fixture.external.call(backups.listJobs, { name }, as)).jobs;
  const list = (as = staff, query = {}) =>
    fixture.external.call(backups.list, { limit: 20, offset: 0, ...query }, as);
  const settled = async (name: string) => {
    await until(async () => (await jobs(name)).every(({ state }) => state !== "running"), 20_000);
    return jobs(name);
  };

  test("a backup of a stopped server's world is listed once its archive is complete", async () => {
    await fixture.addServer("survival", "usr-1", { "level.dat": "one", "region/r.0.0.mca": "chunks" });
    assert.deepEqual(await create("survival"), { name: "survival", status: "backing_up" });
    const [job] = await settled("survival");
    assert.equal(job?.state, "succeeded", JSON.stringify(job));
    const { backups: rows, total } = await list(owner);
    assert.equal(total, 1);
    const [row] = rows;
    assert.deepEqual(
      [row?.server_name, row?.former_owner, row?.reason, row?.status, row?.corrupt],
      ["survival", "usr-1", "manual", "present", undefined],
    );
    const archives = readdirSync(fixture.archiveDir).filter((file) => file.endsWith(".tar.zst"));
    assert.equal(archives.length, 1);
    await until(() => fixture.audits.some(({ action }) => action === "backup.create"));
    const lock = await fixture.kube.get(lockedServers, { name: "survival", namespace });
    assert.equal(lock.metadata.annotations?.["svc.internal/maintenance"], undefined);
  });

  test("the cooldown applies to an owner, not to staff or the host", async () => {
    assert.equal(await faultOf(create("survival")), "backup_cooldown");
    assert.ok(((await retryAfterOf(create("survival"))) ?? 0) > 500);
    assert.equal(await faultOf(create("survival", staff)), "none");
    await settled("survival");
    const emergency = fixture.internal.call(
      backups.createEmergency,
      { name: "survival", os_user: "root" },
      ops,
    );
    assert.equal(await faultOf(emergency), "none");
    await settled("survival");
    await until(() =>
      fixture.audits.some(({ actor, source }) => actor === "root" && source === "internal:ops"),
    );
  });

  test("only an owner's newest few backups are kept, and a pinned one at any age", async () => {
    const [oldest] = (await list(staff, { server: "survival" })).backups.toReversed();
    await fixture.database.admin("update storage.world_backups set pinned_at = now() where id = $1", [
      oldest?.id,
    ]);
    for (let round = 0; round < 5; round++) {
      await create("survival", staff);
      await settled("survival");
    }
    const { backups: rows } = await list(staff, { server: "survival" });
    assert.equal(rows.length, 6);
    assert.equal(rows.at(-1)?.id, oldest?.id);
  });

  test("each rejection has its code", async () => {
    await fixture.addServer("refused", "usr-1");
    assert.equal(await faultOf(create("no")), "bad_name");
    assert.equal(await faultOf(create("lobby")), "bad_name");
    assert.equal(await faultOf(create("nobody-here")), "not_found");
    assert.equal(await faultOf(create("refused", account("usr-2"))), "forbidden");
    await fixture.kube.patch(
      lockedServers,
      { name: "refused", namespace },
      { merge: { spec: { desiredState: "Running" } } },
    );
    assert.equal(await faultOf(create("refused")), "not_stopped");
    const back = {
      metadata: { annotations: { "svc.internal/maintenance": `reap@${new Date().toISOString()}` } },
    };
    await fixture.kube.patch(
      lockedServers,
      { name: "refused", namespace },
      { merge: { ...back, spec: { desiredState: "Stopped" } } },
    );
    assert.equal(await faultOf(create("refused")), "world_reclaiming");
  });

  test("a world is backed up once at a time", async () => {
    await fixture.addServer("twice", "usr-1");
    fixture.pauseAt("backup");
    const both = await Promise.all([faultOf(create("twice")), faultOf(create("twice", staff))]);
    assert.deepEqual(both.toSorted(), ["maintenance_in_progress", "none"]);
    assert.equal(await faultOf(create("twice", staff)), "maintenance_in_progress");
    fixture.resumeAt("backup");
    assert.equal((await settled("twice")).length, 1);
  });

  test("a user sees and deletes only backups of worlds that they owned at the time", async () => {
    await fixture.addServer("others", "usr-2");
    await create("others", account("usr-2"));
    await settled("others");
    const { backups: rows } = await list(account("usr-2"));
    assert.deepEqual(new Set(rows.map(({ server_name }) => server_name)), new Set(["others"]));
    assert.equal((await list(owner, { server: "others" })).total, 0);
    const id = rows[0]?.id ?? "";
    const expire = (as = owner) => fixture.external.call(backups.expire, { id }, as);
    assert.equal(await faultOf(expire()), "no_backup");
    assert.deepEqual(await expire(account("usr-2")), { id, status: "expired" });
    assert.equal(await faultOf(expire(account("usr-2"))), "no_backup");
    assert.equal((await list(account("usr-2"))).total, 0);
  });

  test("a token for some servers sees, lists, changes and deletes no other's backups", async () => {
    for (const name of ["token-mine", "token-other"]) {
      await fixture.addServer(name, "usr-token");
      await create(name, account("usr-token"));
      await settled(name);
    }
    const { backups: all } = await list(account("usr-token"));
    const idOf = (name: string) => all.find(({ server_name }) => server_name === name)?.id ?? "";
    const token = tokenOf("usr-token", { rights: [...rights], servers: ["token-mine"] });
    const seen = await list(token);
    assert.deepEqual([seen.total, seen.backups.map(({ server_name }) => server_name)], [1, ["token-mine"]]);
    assert.equal((await list(token, { server: "token-other" })).total, 0);
    const { external } = fixture;
    const other = idOf("token-other");
    const name = "token-mine";
    const refused = await Promise.all([
      faultOf(external.call(backups.edit, { id: other, label: "x" }, token)),
      faultOf(external.call(backups.expire, { id: other }, token)),
      faultOf(external.call(backups.listFiles, { id: other, path: "" }, token)),
      faultOf(external.call(backups.restore, { name, safety_snapshot: false, backup_id: other }, token)),
    ]);
    assert.deepEqual(refused, Array(4).fill("no_backup"));
    // Should a gateway ever let one through.
    assert.equal(await faultOf(external.call(backups.listJobs, { name: "token-other" }, token)), "forbidden");
    assert.equal(await faultOf(create("token-other", token)), "forbidden");
    const everywhere = tokenOf("usr-token", { rights: ["see"] });
    assert.equal((await list(everywhere)).total, 2);
    assert.equal((await list(tokenOf("usr-1", { rights: ["see"], servers: ["token-mine"] }))).total, 0);
    assert.deepEqual(await external.call(backups.expire, { id: idOf(name) }, token), {
      id: idOf(name),
      status: "expired",
    });
  });

  test("an owner labels and pins a backup, cannot undo a pin by staff, and nobody else may do either", async () => {
    const host = account("usr-pin");
    await fixture.addServer("pinned", "usr-pin");
    for (const as of [host, staff]) {
      await create("pinned", as);
      await settled("pinned");
    }
    const [one = "", other = ""] = (await list(host)).backups.map(({ id }) => id);
    const edit = (id: string, change: { label?: string; pinned?: boolean }, as = host) =>
      fixture.external.call(backups.edit, { id, ...change }, as);
    const expire = (id: string, as = host) => fixture.external.call(backups.expire, { id }, as);
    for (const as of [account("usr-2"), account("usr-1")]) {
      assert.equal(await faultOf(edit(one, { pinned: true, label: "mine" }, as)), "no_backup");
      assert.equal(await faultOf(expire(one, as)), "no_backup");
    }
    assert.equal(await faultOf(edit(one, {})), "bad_request");
    const own = await edit(one, { label: "before 1.22", pinned: true });
    assert.deepEqual([own.label, own.pinned_by], ["before 1.22", "owner"]);
    assert.equal(await faultOf(expire(one)), "backup_pinned");
    assert.equal((await edit(one, { pinned: false })).pinned_by, undefined);
    await edit(one, { pinned: true });

    for (const id of [one, other]) assert.equal((await edit(id, { pinned: true }, staff)).pinned_by, "staff");
    assert.equal((await edit(one, { pinned: true, label: "" })).pinned_by, "staff");
    assert.equal(await faultOf(edit(one, { pinned: false, label: "gone" })), "backup_pinned");
    assert.equal(await faultOf(expire(one)), "backup_pinned");
    assert.deepEqual(
      (await list(host)).backups.map(({ label, pinned_by }) => [label, pinned_by]),
      [
        [undefined, "staff"],
        [undefined, "staff"],
      ],
    );
    assert.equal((await edit(one, { pinned: false }, staff)).pinned_by, undefined);
    assert.deepEqual(await expire(one), { id: one, status: "expired" });
    assert.deepEqual(await expire(other, staff), { id: other, status: "expired" });
    assert.equal(await faultOf(edit(other, { pinned: true })), "no_backup");
    await until(() =>
      fixture.audits.some(({ action, actor }) => action === "backup.annotate" && actor !== ""),
    );
  });

  test("an account cannot exceed its limit of pins with concurrent requests", async () => {
    const host = account("usr-many");
    await fixture.database.admin(
      `insert into storage.world_backups (id, server_name, former_owner, backup_ref, size_bytes, reason, expires_at, sha256)
       select 'bk-many-' || n, 'many', 'usr-many', '/archive/many-' || n || '.tar.zst', 1, 'manual', now() + '1 day', repeat('0', 64)
       from generate_series(1, 14) n`,
    );
    const pin = (id: string, as = host) => fixture.external.call(backups.edit, { id, pinned: true }, as);
    const ids = (await list(host)).backups.map(({ id }) => id);
    const ends = await Promise.all(ids.map((id) => faultOf(pin(id))));
    assert.deepEqual(
      [ends.filter((end) => end === "none").length, ends.filter((end) => end === "pin_limit").length],
      [10, 4],
    );
    const isPinned = ({ pinned_by }: backups.BackupView) => pinned_by !== undefined;
    const rows = (await list(host)).backups;
    assert.equal(rows.filter(isPinned).length, 10);
    assert.equal(await faultOf(pin(rows.find(isPinned)?.id ?? "")), "none");
    assert.equal(await faultOf(pin(rows.find((row) => !isPinned(row))?.id ?? "", staff)), "none");
    await fixture.database.admin("delete from storage.world_backups where server_name = 'many'");
  });

  test("a server transfer gives the new account the backups of the transferred servers, and only those", async () => {
    const mover = account("usr-old");
    const next = account("usr-new");
    for (const name of ["moving", "staying"]) {
      await fixture.addServer(name, "usr-old");
      await create(name, mover);
      await settled(name);
    }
    await fixture.addServer("foreign", "usr-3");
    await create("foreign", account("usr-3"));
    await settled("foreign");
    const lifecycle = await fixture.nats.connect("lifecycle");
    const at = new Date().toISOString();
    for (const name of ["moving", "foreign"]) {
      const data = { name, from_user_id: "usr-old", to_user_id: "usr-new", at };
      const subject = eventSubject(ownership.serverTransferred, data);
      await lifecycle.publish([{ id: `moved-${name}`, subject, body: Buffer.from(JSON.stringify(data)) }]);
    }
    await lifecycle.drain(500);
    await until(async () => (await list(next)).total > 0, 20_000);
    fixture.servers.owners.set("moving", "usr-new");
    assert.deepEqual(
      (await list(next)).backups.map((row) => [row.server_name, row.former_owner]),
      [["moving", "usr-new"]],
    );
    assert.equal((await jobs("moving", next)).length, 1);
    assert.deepEqual(
      (await list(mover)).backups.map(({ server_name }) => server_name),
      ["staying"],
    );
    assert.equal((await list(account("usr-3"))).total, 1);
  });

  test("a schedule's run makes one backup however often it asks, and each response has its state", async () => {
    await fixture.addServer("nightly", "usr-1");
    const lifecycle = await fixture.nats.connect("lifecycle");
    try {
      const ask = () =>
        lifecycle.call(backups.startScheduledBackup, {
          name: "nightly",
          run_key: "7-1",
          created_by: "owner",
        });
      // Of two concurrent requests the later one may be rejected because of the lock.
      const both = await Promise.allSettled([ask(), ask()]);
      const first = await ask();
      const answers = both.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      assert.ok(answers.length > 0);
      for (const answer of answers) assert.deepEqual(answer, first);
      assert.deepEqual(await ask(), first);
      await settled("nightly");
      assert.deepEqual(await ask(), first);
      assert.deepEqual(await lifecycle.call(backups.readBackupRun, first), { state: "succeeded" });
      assert.equal((await jobs("nightly")).length, 1);
      assert.equal((await jobs("nightly"))[0]?.scheduled, true);
    } finally {
      await lifecycle.drain(500);
    }
  });
});
