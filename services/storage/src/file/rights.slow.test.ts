// A server changes its owner during byte transfers: they end, and no ticket stays valid.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import { until } from "@svc/mesh/testing";
import {
  type AccessLimits,
  eventSubject,
  type exports,
  type MemberRight,
  memberRights,
  members,
  ownership,
  type uploads,
} from "@svc/proto";
import { isJobFinished } from "@svc/world-lock";
import { cookie, type FaceFixture, openFaceFixture } from "../testing/face-fixture.ts";
import { startPartialUpload } from "../testing/partial-upload.ts";
import { namespace } from "../testing/worlds.ts";

const base = "/api/v1/servers/survival";
const emptySha256 = createHash("sha256").digest("hex");
// More than the socket buffers hold: a stalled reader would otherwise be sent all of it.
const region = randomBytes(40_000_000);

describe("byte transfers of a server whose owner changes", () => {
  let fixture: FaceFixture;
  before(async () => {
    fixture = await openFaceFixture();
    const many = [
      "storage.download_per_user=10",
      "storage.download_platform=10",
      "storage.export_per_user=10",
    ];
    const quick = [...many, "storage.export_platform=10", "storage.export_sweep=200ms"];
    await fixture.start([...quick, "storage.upload_sweep=300ms"]);
    await fixture.base.addServer("survival", "usr-1", { "level.dat": "one" });
    writeFileSync(join(fixture.worldDir("survival"), "r.0.0.mca"), region);
  });
  after(() => fixture?.close());
  afterEach(async () => {
    fixture.base.servers.owners.set("survival", "usr-1");
    await atRest();
  });
  const atRest = () =>
    until(async () => {
      const { items } = await fixture.base.kube.list(resources.jobs, { namespace });
      return items.every(isJobFinished);
    }, 20_000);

  const giveAway = () => void fixture.base.servers.owners.set("survival", "usr-2");
  const announce = () => {
    const at = new Date().toISOString();
    const data = { name: "survival", from_user_id: "usr-1", to_user_id: "usr-2", at };
    const subject = eventSubject(ownership.serverTransferred, data);
    const id = randomBytes(8).toString("hex");
    return fixture.base.lifecycleMesh.publish([{ id, subject, body: Buffer.from(JSON.stringify(data)) }]);
  };
  const ready = async (path: string) => {
    const { status, body } = await fixture.ask(`${base}/${path}`, { method: "POST" });
    assert.equal(status, 202, JSON.stringify(body));
    const { ticket } = body as exports.ExportTicket;
    const state = async () => (await fixture.ask(`/api/v1/exports/${ticket}`)).body["state"];
    await until(async () => (await state()) === "ready", 20_000);
    return ticket;
  };
  const backup = async () => {
    assert.equal((await fixture.ask(`${base}/backup`, { method: "POST" })).status, 202);
    const list = async () =>
      (await fixture.ask("/api/v1/backups?server=survival")).body["backups"] as { id: string }[];
    await until(async () => (await list()).length > 0, 20_000);
    return `backups/${(await list())[0]?.id}/export`;
  };

  const kinds: Record<string, () => Promise<string>> = {
    "a file": async () => "files/download?path=r.0.0.mca",
    "a world": async () => "world/export",
    "a backup": backup,
  };
  for (const [what, pathOf] of Object.entries(kinds)) {
    test(`the previous owner gets nothing for a ticket of ${what}, and its Job ends`, async () => {
      const ticket = await ready(await pathOf());
      giveAway();
      const place = `/api/v1/exports/${ticket}/download`;
      assert.equal(await fixture.refusal(place), "403 forbidden");
      assert.equal(await fixture.refusal(place), "410 export_expired");
    });
  }

  /** Begins to read and stalls until it may proceed. */
  async function readSome(ticket: string) {
    const headers = cookie("usr-1");
    const asking = request(`${fixture.externalUrl}/api/v1/exports/${ticket}/download`, {
      headers,
      agent: false,
    });
    asking.on("error", () => {});
    asking.end();
    const [answer] = (await once(asking, "response")) as [IncomingMessage];
    answer.on("error", () => {});
    const closed = new Promise((resolve) => answer.once("close", resolve));
    await once(answer, "readable");
    return {
      restOf: async () => {
        answer.resume();
        await closed;
        return answer.complete;
      },
    };
  }

  test("a running download is cut at the event and does not look complete", async () => {
    const reading = await readSome(await ready("files/download?path=r.0.0.mca"));
    giveAway();
    await announce();
    // It ends although its reader stalls, and its Job releases the maintenance lock.
    await atRest();
    assert.equal(await reading.restOf(), false);
  });

  describe("and of a member whose access ends", () => {
    const share = (given: readonly MemberRight[], limits?: AccessLimits) => {
      fixture.base.servers.owners.set("survival", "usr-owner");
      const member = { user_id: "usr-1", rights: [...given], ...(limits && { limits }) };
      fixture.base.servers.overrides.set("survival", { members: [member] });
    };
    const end = async () => {
      fixture.base.servers.overrides.delete("survival");
      const data = { name: "survival", at: new Date().toISOString() };
      const subject = eventSubject(members.accessChanged, data);
      const id = randomBytes(8).toString("hex");
      await fixture.base.lifecycleMesh.publish([{ id, subject, body: Buffer.from(JSON.stringify(data)) }]);
    };
    afterEach(() => void fixture.base.servers.overrides.delete("survival"));

    test("a running download is cut and a running upload ends at the event", async () => {
      share(["files.read"], { read_paths: ["r.0.0.mca"] });
      const reading = await readSome(await ready("files/download?path=r.0.0.mca"));
      await end();
      await atRest();
      assert.equal(await reading.restOf(), false);
      share(["files.write"], { write_paths: ["plugins"] });
      const place = `${fixture.externalUrl}${base}/files/upload?path=plugins/x.bin`;
      const sending = startPartialUpload(place, randomBytes(1_000_000), 500_000);
      const answered = once(sending, "response") as Promise<[IncomingMessage]>;
      await until(() => readdirSync(fixture.stagingDir).length === 1);
      await end();
      const [answer] = await answered;
      assert.equal(answer.statusCode, 403);
      sending.destroy();
      await until(() => readdirSync(fixture.stagingDir).length === 0);
    });

    test("a ticket is void once its path is outside the limit, and one of a world once the right is gone", async () => {
      share(["files.read"]);
      const ticket = await ready("files/download?path=r.0.0.mca");
      share(["files.read"], { read_paths: ["plugins"] });
      assert.equal(await fixture.refusal(`/api/v1/exports/${ticket}/download`), "403 forbidden");
      await atRest();
      share(["backups.download"]);
      const world = await ready("world/export");
      share(["files.read"]);
      assert.equal(await fixture.refusal(`/api/v1/exports/${world}/download`), "403 forbidden");
    });

    test("backups of the owner are shared at this server alone, by right, and their owner's without lifecycle too", async () => {
      const [{ id = "" } = {}] = (await fixture.base.database.admin(
        "select id from storage.world_backups where server_name = 'survival' limit 1",
      )) as { id?: string }[];
      assert.notEqual(id, "");
      await fixture.base.database.admin("update storage.world_backups set former_owner = 'usr-owner'");
      const list = async () =>
        ((await fixture.ask("/api/v1/backups")).body["backups"] as { id: string }[]).length;
      const edit = (method: string, json?: object) =>
        fixture.refusal(`/api/v1/backups/${id}`, { method, ...(json && { json }) });
      share(["see"]);
      assert.ok((await list()) > 0);
      assert.equal(await edit("DELETE"), "404 no_backup");
      assert.equal(await edit("PATCH", { label: "x" }), "404 no_backup");
      share(["see", "backups.make"]);
      assert.equal(
        (await fixture.ask(`/api/v1/backups/${id}`, { method: "PATCH", json: { label: "x" } })).status,
        200,
      );
      fixture.base.servers.isDown = true;
      assert.equal(await list(), 0);
      assert.equal(await edit("DELETE"), "503 unavailable");
      fixture.base.servers.isDown = false;
      fixture.base.servers.owners.set("survival", "usr-2");
      assert.equal(await list(), 0);
      assert.equal(await edit("PATCH", { label: "y" }), "404 no_backup");
    });

    /** One operation of every right that storage decides, with a place outside of `plugins` where paths matter. */
    const operations: [right: MemberRight, method: string, place: string, json?: object][] = [
      ["see", "GET", "jobs"],
      ["files.read", "GET", "files?path=plugins"],
      ["files.write", "POST", "files/mkdir?path=plugins/new"],
      ["backups.make", "POST", "backup"],
      ["backups.restore", "POST", "restore-backup", { backup_id: "none" }],
      ["backups.download", "POST", "backups/none/export"],
    ];
    for (const [right, method, place, json] of operations) {
      test(`${right}: a member with it is let in, without it or after its end is not`, async () => {
        const ask = async () =>
          (await fixture.ask(`${base}/${place}`, { method, ...(json && { json }) })).status;
        share(memberRights.filter((one) => one !== right));
        assert.equal(await ask(), 403);
        const member = { user_id: "usr-1", rights: [...memberRights] };
        const over = { ...member, ends_at: new Date(Date.now() - 1).toISOString() };
        fixture.base.servers.overrides.set("survival", { members: [over] });
        assert.equal(await ask(), 403);
        fixture.base.servers.overrides.set("survival", { members: [{ ...member, user_id: "usr-3" }] });
        assert.equal(await ask(), 403);
        share([right]);
        assert.notEqual(await ask(), 403);
      });
    }

    test("backups lead around no path: whole ones and the world are closed, files within are not", async () => {
      const [{ id = "" } = {}] = (await fixture.base.database.admin(
        "select id from storage.world_backups where server_name = 'survival' limit 1",
      )) as { id?: string }[];
      await fixture.base.database.admin("update storage.world_backups set former_owner = 'usr-owner'");
      const refused = (method: string, place: string, json?: object) =>
        fixture.refusal(place, { method, ...(json && { json }) });
      const restore = (only?: string[]) =>
        refused("POST", `${base}/restore-backup`, { backup_id: id, ...(only && { only }) });
      share(memberRights, { read_paths: ["r.0.0.mca"], write_paths: ["plugins"] });
      for (const place of [`${base}/backups/${id}/export`, `${base}/world/export`])
        assert.equal(await refused("POST", place), "403 path_not_shared", place);
      for (const path of ["", "?path=level.dat", "?path=r.0.0.mca.old", "?path=."])
        assert.equal(await refused("GET", `/api/v1/backups/${id}/files${path}`), "403 path_not_shared", path);
      // Within, and a file: nothing to list, but nothing that is closed.
      const inside = await fixture.ask(`/api/v1/backups/${id}/files?path=r.0.0.mca`);
      assert.notEqual(inside.status, 403);
      for (const only of [undefined, ["level.dat"], ["plugins/x.jar", "level.dat"], ["."], ["plugins2"]])
        assert.equal(await restore(only), "403 path_not_shared", JSON.stringify(only));
      assert.equal(await restore(["plugins/../level.dat"]), "400 bad_path");
      share(memberRights, { read_paths: ["plugins"] });
      assert.equal(await refused("POST", `${base}/restore-backup`, { backup_id: "none" }), "404 no_backup");
      share(memberRights, { write_paths: ["plugins"] });
      const whole = await ready(`backups/${id}/export`);
      share(memberRights, { read_paths: ["plugins"] });
      assert.equal(await fixture.refusal(`/api/v1/exports/${whole}/download`), "403 forbidden");
      await atRest();
    });

    test("the account of the owner stands in no backup that a member sees", async () => {
      await fixture.base.database.admin("update storage.world_backups set former_owner = 'usr-owner'");
      share(memberRights);
      const { body } = await fixture.ask("/api/v1/backups");
      const [row] = body["backups"] as { id: string; server_name: string }[];
      assert.equal(row?.server_name, "survival");
      assert.ok(!JSON.stringify(body).includes("usr-owner"));
      const label = { method: "PATCH", json: { label: "x" } };
      const edited = await fixture.ask(`/api/v1/backups/${row?.id}`, label);
      assert.deepEqual(
        [edited.status, edited.body["label"], edited.body["former_owner"]],
        [200, "x", undefined],
      );
      await fixture.base.database.admin("update storage.world_backups set former_owner = 'usr-1'");
      const own = await fixture.ask("/api/v1/backups");
      assert.deepEqual((own.body["backups"] as object[])[0], { ...row, former_owner: "usr-1", label: "x" });
    });

    test("nothing that is closed to reading is moved to where it is open", async () => {
      const rights: MemberRight[] = ["files.read", "files.write"];
      const refused = (place: string, json: object) =>
        fixture.refusal(`${base}/files/${place}`, { method: "POST", json });
      const move = (path: string, to: string) => refused(`rename?path=${path}`, { to });
      share(rights, { read_paths: ["open.dat"] });
      assert.equal(await move("level.dat", "open.dat"), "403 path_not_shared");
      share(rights, { read_paths: ["open/deep"] });
      assert.equal(await move("closed", "open"), "403 path_not_shared");
      assert.equal(await refused("unzip?path=open/a.zip", {}), "403 path_not_shared");
      assert.equal(await move("level.dat", "closed/level.dat"), "404 not_found");
      const set = ".svc/set-aside/20260101T000000Z";
      for (const to of [`${set}/open/deep/level.dat`, `${set}/open`, set, ".svc"])
        assert.equal(await move("level.dat", to), "403 path_not_shared", to);
      share(rights, { write_paths: ["open"] });
      assert.equal(await move("open/a", "open/deep/a"), "404 not_found");
    });

    test("files outside of its paths are closed, in every operation and at both ends", async () => {
      share(["files.read", "files.write"], { read_paths: ["plugins"], write_paths: ["plugins"] });
      const outside: [method: string, place: string, json?: object][] = [
        ["GET", "files"],
        ["GET", "files?path=."],
        ["GET", "files?path=plugins2"],
        ["GET", "file?path=level.dat"],
        ["GET", "files/search?text=one"],
        ["GET", "files/search?text=one&path=plugins2"],
        ["PUT", "file?path=level.dat", { content: "", content_sha256: emptySha256 }],
        ["DELETE", "file?path=level.dat"],
        ["POST", "files/mkdir?path=mods"],
        ["POST", "files/rename?path=plugins/a", { to: "b" }],
        ["POST", "files/rename?path=a", { to: "plugins/b" }],
        ["POST", "files/unzip?path=a.zip", {}],
        ["POST", "files/archive?path=a.zip", { names: ["plugins"] }],
        ["POST", "files/archive?path=plugins2/a.zip", { names: ["b"] }],
        ["POST", "files/fetch?path=level.dat", { url: "https://a.example/b" }],
        ["POST", "files/download?path=level.dat"],
        ["POST", "files/uploads?path=level.dat", { size: 1 }],
      ];
      for (const [method, place, json] of outside) {
        const answer = await fixture.ask(`${base}/${place}`, { method, ...(json && { json }) });
        assert.equal(answer.status, 403, `${method} ${place}`);
      }
      for (const path of ["plugins/../level.dat", "plugins/..", "/level.dat", "plugins\\..\\level.dat"]) {
        const place = `${base}/file?path=${encodeURIComponent(path)}`;
        assert.ok([400, 403].includes((await fixture.ask(place)).status), path);
      }
      const begun = await fixture.ask(`${base}/files/uploads?path=plugins/new.bin`, {
        method: "POST",
        json: { size: 10 },
      });
      assert.equal(begun.status, 201);
      const { id } = begun.body as uploads.FileUploadSession;
      share(["files.write"], { write_paths: ["mods"] });
      assert.equal(await fixture.refusal(`${base}/files/uploads/${id}`), "403 path_not_shared");
      assert.equal(
        await fixture.refusal(`${base}/files/uploads/${id}`, { method: "DELETE" }),
        "403 path_not_shared",
      );
    });
  });

  test("a running upload ends at the event, and nothing of it is kept", async () => {
    const begun = await fixture.ask(`${base}/files/uploads?path=new.bin`, {
      method: "POST",
      json: { size: 1_000_000 },
    });
    const { id } = begun.body as uploads.FileUploadSession;
    const bytes = randomBytes(1_000_000);
    for (const place of [`uploads/${id}?offset=0`, "upload?path=whole.bin"]) {
      const sending = startPartialUpload(`${fixture.externalUrl}${base}/files/${place}`, bytes, 500_000);
      const answered = once(sending, "response") as Promise<[IncomingMessage]>;
      const staged = () =>
        readdirSync(fixture.stagingDir).flatMap((folder) => readdirSync(join(fixture.stagingDir, folder)));
      await until(() => staged().length === 1);
      giveAway();
      await announce();
      const [answer] = await answered;
      assert.equal(answer.statusCode, 403, place);
      sending.destroy();
      fixture.base.servers.owners.set("survival", "usr-1");
      await until(() => staged().length === 0);
    }
    giveAway();
    assert.equal(await fixture.refusal(`${base}/files/uploads/${id}`), "403 forbidden");
  });
});

test("without an event the check of every minute ends a download", async () => {
  const fixture = await openFaceFixture();
  try {
    await fixture.start(["storage.transfer_recheck=200ms", "storage.export_sweep=200ms"]);
    await fixture.base.addServer("survival", "usr-1", { "level.dat": "one" });
    writeFileSync(join(fixture.worldDir("survival"), "r.0.0.mca"), region);
    const { body } = await fixture.ask(`${base}/files/download?path=r.0.0.mca`, { method: "POST" });
    const place = `/api/v1/exports/${body["ticket"]}`;
    await until(async () => (await fixture.ask(place)).body["state"] === "ready", 20_000);
    // Nobody fetches it: its body is parked.
    fixture.base.servers.owners.set("survival", "usr-2");
    await until(async () => {
      const { items } = await fixture.base.kube.list(resources.jobs, { namespace });
      return items.length > 0 && items.every(isJobFinished);
    }, 20_000);
    assert.equal(await fixture.refusal(`${place}/download`), "410 export_expired");
  } finally {
    await fixture.close();
  }
});
