// A server changes its owner during byte transfers: they end, and no ticket stays valid.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import { until } from "@svc/mesh/testing";
import { eventSubject, type exports, ownership, type uploads } from "@svc/proto";
import { isJobFinished } from "@svc/world-lock";
import { cookie, type FaceFixture, openFaceFixture } from "../testing/face-fixture.ts";
import { startPartialUpload } from "../testing/partial-upload.ts";
import { namespace } from "../testing/worlds.ts";

const base = "/api/v1/servers/survival";
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
