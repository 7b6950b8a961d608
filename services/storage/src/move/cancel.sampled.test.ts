// Cancelled moves, and the tickets for byte transfers of archives.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { killPoint } from "@svc/config/testing";
import { faultOf, staff, until } from "@svc/mesh/testing";
import { backups, type migrations } from "@svc/proto";
import { Folder, writeArchive } from "@svc/world";
import { lockedServers } from "@svc/world-lock";
import { type MoveFixture, openMoveFixture } from "../testing/move/fixture.ts";
import { namespace, writeFiles } from "../testing/worlds.ts";

const cli = fileURLToPath(new URL("../../../cli/src/main.ts", import.meta.url));

let fixture: MoveFixture;
before(async () => {
  fixture = await openMoveFixture("pausing");
  await fixture.start();
});
after(() => fixture?.close());

describe("a cancelled move", () => {
  const isOver = async (id: string) => {
    const [row] = await fixture.base.database.admin(
      "select abandoned from storage.world_migrations where id = $1",
      [id],
    );
    return row?.["abandoned"] === true;
  };
  /** What must hold after a cancellation: the world is unlocked, complete and where it was; nothing else is left. */
  const assertGivenBack = async (name: string, move: migrations.WorldMigration, world: object) => {
    await until(() => isOver(move.id), 60_000);
    assert.equal(await fixture.lockOf(name), undefined);
    assert.equal(await fixture.hasClaim(move.targetPVC), false);
    assert.deepEqual(await fixture.filesOf(`world-${name}-0`), world);
    assert.equal((await fixture.specOf(name)).nodeName, undefined);
    const { database } = fixture.base;
    assert.deepEqual(
      await database.admin("select id from storage.archive_tickets where archive like $1", [`${name}-%`]),
      [],
    );
    const rows = await database.admin(
      "select backup_ref, pinned_at from storage.world_backups where server_name = $1",
      [name],
    );
    assert.ok(rows.every((row) => row["pinned_at"] === null));
    const archives = readdirSync(fixture.base.archiveDir).filter((one) => one.includes(`${name}-`));
    assert.equal(archives.length, rows.length, archives.join());
  };

  for (const [number, step] of ["restore", "backup", "backup-midway", "restore-done"].entries()) {
    test(`at "${step}" leaves the world as it was, and another may start`, killPoint(number, 4), async () => {
      const name = `given-up-${step}`;
      await fixture.addWorld(name, {
        "level.dat": name,
        "big.mca": randomBytes(300_000).toString("base64"),
      });
      const world = await fixture.filesOf(`world-${name}-0`);
      fixture.base.pauseAt(step);
      const { id } = await fixture.begin(name);
      await until(() => fixture.base.pidAt(step) !== undefined, 60_000);
      const [carrier] = await fixture.base.database.admin(
        "select id from storage.world_backups where server_name = $1",
        [name],
      );
      if (carrier) {
        const spec = { id: String(carrier["id"]) };
        assert.equal(
          await faultOf(fixture.base.external.call(backups.expire, spec, staff)),
          "restore_in_progress",
        );
      }
      assert.equal(carrier !== undefined, step.startsWith("restore"));
      const received = await fixture.cancel(name, id);
      assert.deepEqual([received.state, received.cancelled], ["failed", true]);
      assert.match(received.error ?? "", /^cancelled by usr-staff; the world is where it was/);
      assert.equal((await fixture.cancel(name, id)).id, id, "a second cancellation is accepted");
      assert.equal(await faultOf(fixture.retry(name, id)), "migration_not_failed");
      fixture.base.resumeAt(step);
      await assertGivenBack(name, received, world);
      assert.equal(
        fixture.base.audits.filter(({ server_name: of }) => of === name).at(-1)?.action,
        "world.migrate_cancel",
      );
      const next = await fixture.begin(name);
      const done = await fixture.reaches(name, "succeeded", "failed");
      assert.deepEqual([done.id, done.state], [next.id, "succeeded"], done.error);
      assert.equal(await faultOf(fixture.cancel(name, done.id)), "migration_over");
    });
  }

  test("is cleaned up by the next replica when the first one dies", async () => {
    const name = "given-up-twice";
    await fixture.addWorld(name);
    const world = await fixture.filesOf(`world-${name}-0`);
    fixture.base.pauseAt("restore");
    const { id } = await fixture.begin(name);
    await until(() => fixture.base.pidAt("restore") !== undefined, 60_000);
    process.kill(fixture.base.pidAt("restore") ?? 0, "SIGKILL");
    fixture.base.resumeAt("restore");
    await fixture.reaches(name, "failed");
    // Recorded by a process that died before it acted on it; half of the cleanup was done by hand.
    await fixture.base.database.admin(
      "update storage.world_migrations set cancelled_at = now(), cancelled_by = 'usr-9' where id = $1",
      [id],
    );
    await assertGivenBack(name, await fixture.read(name), world);
  });

  test("whose switch succeeded with a lost response is completed; if its server is gone since, the volume is kept", async () => {
    const name = "given-up-late";
    await fixture.addWorld(name);
    await fixture.begin(name);
    const done = await fixture.reaches(name, "succeeded", "failed");
    const world = await fixture.filesOf(done.targetPVC);
    const loseAnswer = () =>
      fixture.base.database.admin(
        `update storage.world_migrations set state = 'failed', stage = 'switching', switched = false,
           cancelled_at = now(), cancelled_by = 'usr-9' where id = $1`,
        [done.id],
      );
    await loseAnswer();
    assert.equal((await fixture.reaches(name, "succeeded")).switched, true);
    await fixture.base.kube.remove(lockedServers, { name, namespace });
    await loseAnswer();
    await until(() => isOver(done.id), 60_000);
    assert.deepEqual(await fixture.filesOf(done.targetPVC), world);
    assert.equal(await fixture.hasClaim(done.targetPVC), true);
  });
});

describe("a world on a node without the archive folder", () => {
  test("is backed up, restored and compared with its archive over byte transfers", async () => {
    await fixture.addNodeClaim("archive-elsewhere", "local-2");
    const replica = await fixture.start(["storage.archive_claim=archive-elsewhere"]);
    for (const other of fixture.replicas.splice(0)) if (other !== replica) await other.stop();
    await fixture.addWorld("far");
    const world = await fixture.filesOf("world-far-0");
    const { external } = fixture.base;
    const settled = async () => {
      const jobs = async () => (await external.call(backups.listJobs, { name: "far" }, staff)).jobs;
      const isOpen = (job: backups.WorldJob) => job.state === "running" || job.then_restore === "pending";
      await until(async () => !(await jobs()).some(isOpen), 60_000);
      return jobs();
    };
    await external.call(backups.create, { name: "far" }, staff);
    assert.deepEqual(
      (await settled()).map(({ state, message }) => [state, message]),
      [["succeeded", undefined]],
    );
    await fixture.writeTo("world-far-0", { "level.dat": "played on", "new.dat": "later" });
    await external.call(backups.restore, { name: "far", safety_snapshot: true }, staff);
    const [restored] = await settled();
    assert.deepEqual([restored?.kind, restored?.state], ["restore", "succeeded"], restored?.message);
    assert.deepEqual(await fixture.filesOf("world-far-0"), world);
    assert.deepEqual(await fixture.filesOf("archive-elsewhere"), {}, "no Job had the folder");
    assert.ok(readdirSync(fixture.base.archiveDir).filter((name) => name.startsWith("far-")).length === 2);
  });
});

describe("svc server-migrate", () => {
  const svc = async (...args: string[]) => {
    const url = new URL(fixture.base.nats.url);
    url.username = "operator";
    url.password = fixture.base.nats.passwords["operator"] ?? "";
    const child = spawn(process.execPath, [cli, "server-migrate", ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, SVC_OPERATOR_NATS_URL: url.href },
    });
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "exit"),
    ]);
    return { code, out, err };
  };

  test("moves a world, reports its progress, and rejects what is impossible", async () => {
    await fixture.addWorld("by-hand");
    const moved = await svc("start", "by-hand", "local-2", "--yes");
    assert.deepEqual([moved.code, moved.err.includes("by-hand: restoring")], [0, true], moved.err);
    const shown = JSON.parse((await svc("status", "by-hand", "--json")).out) as migrations.WorldMigration;
    assert.deepEqual([shown.state, shown.targetNode], ["succeeded", "local-2"]);
    const refused = await svc("cancel", "by-hand", "--yes");
    assert.deepEqual([refused.code, refused.err.includes("migration_over")], [1, true]);
  });
});

describe("a ticket for an archive", () => {
  let archive: Buffer;
  before(async () => {
    const root = join(fixture.base.dataDir, "small");
    writeFiles(root, { "level.dat": "x", "a/b.mca": "y".repeat(100_000) });
    await using world = await Folder.openRoot(root);
    const parts: Buffer[] = [];
    await writeArchive(world, {
      compression: "zstd",
      write: async (chunk) => void parts.push(Buffer.from(chunk)),
    });
    archive = Buffer.concat(parts);
  });

  const token = "f".repeat(64);
  let count = 0;
  const addTicket = async (kind: "put" | "get", about: { expires?: string; archive?: string } = {}) => {
    count += 1;
    const id = count.toString(16).padStart(16, "0");
    const name = about.archive ?? `travels-${count}.tar.zst`;
    await fixture.base.database.admin(
      `insert into storage.archive_tickets (id, kind, job, archive, token_hash, expires_at)
       values ($1, $2, $3, $4, $5, $6)`,
      [
        id,
        kind,
        `job-${count}`,
        name,
        createHash("sha256").update(token).digest("hex"),
        about.expires ?? "infinity",
      ],
    );
    return { id, name };
  };
  type Put = { secret?: string; digest?: string | null; cutAt?: number };
  /** Status of the answer; 0 when there was none. */
  const put = (id: string, bytes: Buffer, { secret = token, digest, cutAt }: Put = {}) =>
    new Promise<number>((resolve) => {
      const url = `${fixture.internalUrl}/api/v1/internal/archives/${id}`;
      const headers = { authorization: `Bearer ${secret}`, trailer: "Content-Digest" };
      const request = httpRequest(url, { method: "PUT", agent: false, headers });
      request.on("error", () => resolve(0));
      request.once("response", (response) => resolve(response.resume().statusCode ?? 0));
      if (cutAt !== undefined) return void request.write(bytes.subarray(0, cutAt), () => request.destroy());
      request.write(bytes);
      const sha256 = createHash("sha256").update(bytes).digest("base64");
      if (digest !== null) request.addTrailers({ "Content-Digest": digest ?? `sha-256=:${sha256}:` });
      request.end();
    });
  const get = (id: string, secret = token) =>
    fetch(`${fixture.internalUrl}/api/v1/internal/archives/${id}`, {
      headers: { authorization: `Bearer ${secret}` },
    });
  const folder = () => readdirSync(fixture.base.archiveDir).filter((name) => name.includes("travels-"));
  const receiptOf = async (id: string) =>
    (
      await fixture.base.database.admin(
        "select size_bytes, sha256 from storage.archive_tickets where id = $1",
        [id],
      )
    )[0];

  test("accepts one archive once, and another one serves it once", async () => {
    const { id, name } = await addTicket("put");
    assert.equal(await put(id, archive), 204);
    assert.deepEqual(await receiptOf(id), {
      size_bytes: archive.length,
      sha256: createHash("sha256").update(archive).digest("hex"),
    });
    assert.deepEqual(folder(), [name]);
    assert.equal(await put(id, archive), 404);
    const out = await addTicket("get", { archive: name });
    const fetched = await get(out.id);
    assert.equal(fetched.headers.get("content-length"), String(archive.length));
    assert.deepEqual(Buffer.from(await fetched.arrayBuffer()), archive);
    assert.equal((await get(out.id)).status, 404);
  });

  const damaged = () => Buffer.concat([archive.subarray(0, 40), Buffer.from([0xff]), archive.subarray(41)]);
  const refusals: [string, () => Promise<number>, number][] = [
    ["an unknown ticket", () => put("0".repeat(16), archive), 404],
    ["a wrong token", async () => put((await addTicket("put")).id, archive, { secret: "0".repeat(64) }), 404],
    ["a ticket to fetch", async () => put((await addTicket("get")).id, archive), 404],
    ["a late ticket", async () => put((await addTicket("put", { expires: "2020-01-01" })).id, archive), 404],
    [
      "a body without its digest",
      async () => put((await addTicket("put")).id, archive, { digest: null }),
      400,
    ],
    [
      "a body with another digest",
      async () => put((await addTicket("put")).id, archive, { digest: `sha-256=:${"A".repeat(43)}=:` }),
      400,
    ],
    ["a damaged archive", async () => put((await addTicket("put")).id, damaged()), 409],
    ["half an archive", async () => put((await addTicket("put")).id, archive.subarray(0, 60)), 409],
    ["a body that is not an archive", async () => put((await addTicket("put")).id, randomBytes(5_000)), 409],
    ["nothing", async () => put((await addTicket("put")).id, Buffer.alloc(0)), 409],
    ["a cut connection", async () => put((await addTicket("put")).id, archive, { cutAt: 50 }), 0],
    [
      "a ticket for an archive that is gone",
      async () => (await get((await addTicket("get")).id)).status,
      409,
    ],
  ];
  for (const [what, ask, status] of refusals) {
    test(`refuses ${what}, and nothing is kept`, async () => {
      const before = folder();
      assert.equal(await ask(), status);
      await until(() => JSON.stringify(folder()) === JSON.stringify(before));
    });
  }
});
