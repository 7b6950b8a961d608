import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { resources } from "@svc/kube";
import { type FaceFixture, openFaceFixture } from "../testing/face-fixture.ts";
import { namespace } from "../testing/worlds.ts";

const server = "/api/v1/servers/survival";

describe("file requests when a dependency is missing, down or slow", () => {
  let fixture: FaceFixture;
  before(async () => {
    fixture = await openFaceFixture();
    await fixture.base.addServer("survival", "usr-1");
  });
  after(() => fixture?.close());

  const post = { method: "POST" };
  const put = { method: "PUT", bytes: Buffer.from("x") };
  const calls = async () => [
    await fixture.refusal(`${server}/files`),
    await fixture.refusal(`${server}/files/upload?path=x`, put),
    await fixture.refusal(`${server}/files/uploads?path=x`, { ...post, json: { size: 1 } }),
    await fixture.refusal(`${server}/files/download?path=level.dat`, post),
    await fixture.refusal(`${server}/world/export`, post),
  ];
  const during = async (overrides: string[], work: () => Promise<void>) => {
    const replica = await fixture.start(overrides);
    try {
      await work();
    } finally {
      await replica.stop();
    }
  };

  test("without an image for Jobs requests for files and exports are rejected", () =>
    during(["storage.agent_image="], async () => {
      const files = "503 files_unavailable";
      assert.deepEqual(await calls(), [files, files, files, files, "503 export_unavailable"]);
    }));
  test("without the URL of the internal face byte transfers are rejected", () =>
    during(["storage.internal_url="], async () => {
      const files = "503 files_unavailable";
      const [, ...transfers] = await calls();
      assert.deepEqual(transfers, [files, files, files, "503 export_unavailable"]);
      assert.equal((await fixture.ask(`${server}/files`)).status, 200);
    }));
  test("a request whose Job exceeds the wait is 504, and the Job may still finish", () =>
    during(["storage.file_wait=1ms"], async () => {
      assert.equal(await fixture.refusal(`${server}/files/mkdir?path=late`, post), "504 files_timeout");
    }));
  test("while lifecycle is down everything is 503", () =>
    during([], async () => {
      fixture.base.servers.isDown = true;
      assert.deepEqual(new Set(await calls()), new Set(["503 unavailable"]));
      fixture.base.servers.isDown = false;
    }));
  test("requests for a server without a volume are rejected", () =>
    during([], async () => {
      await fixture.base.addServer("hollow", "usr-1");
      await fixture.base.kube.remove(resources.claims, { name: "world-hollow-0", namespace });
      const hollow = "/api/v1/servers/hollow";
      assert.equal(await fixture.refusal(`${hollow}/files`), "409 no_world_volume");
      assert.equal(await fixture.refusal(`${hollow}/world/export`, post), "409 no_world_volume");
    }));
  test("an account may have at most four reads waiting", () =>
    during(["storage.agent_image=svc.local/sleeps", "storage.file_wait=3s"], async () => {
      const all = await Promise.all(Array.from({ length: 8 }, () => fixture.ask(`${server}/files`)));
      const statuses = all.map(({ status }) => status).sort();
      assert.deepEqual(statuses, [503, 503, 503, 503, 504, 504, 504, 504]);
    }));
});
