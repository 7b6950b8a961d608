// A Job dies, or the cluster does not answer, while a request waits for the Job.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { type Kube, resources } from "@svc/kube";
import { until } from "@svc/mesh/testing";
import { Fault } from "@svc/proto";
import { assertAudited, fileAudits } from "../testing/audit-assertions.ts";
import { type Ask, type FaceFixture, openFaceFixture } from "../testing/face-fixture.ts";
import type { Replica, ReplicaOptions } from "../testing/fixture.ts";
import { namespace } from "../testing/worlds.ts";

const base = "/api/v1/servers/survival";
const written = (text: string): Ask => ({
  method: "PUT",
  json: {
    content: Buffer.from(text).toString("base64"),
    content_sha256: createHash("sha256").update(text).digest("hex"),
  },
});
const write = { path: `${base}/file?path=level.dat`, about: written("two") };
const calls: Record<string, { path: string; about: Ask }> = {
  list: { path: `${base}/files`, about: {} },
  read: { path: `${base}/file?path=level.dat`, about: {} },
  write,
  delete: { path: `${base}/file?path=level.dat`, about: { method: "DELETE" } },
  search: { path: `${base}/files/search?text=one`, about: {} },
  archive: {
    path: `${base}/files/archive?path=a.zip`,
    about: { method: "POST", json: { names: ["level.dat"] } },
  },
  mkdir: { path: `${base}/files/mkdir?path=made`, about: { method: "POST" } },
  rename: { path: `${base}/files/rename?path=level.dat`, about: { method: "POST", json: { to: "b.dat" } } },
  upload: {
    path: `${base}/files/upload?path=new.bin`,
    about: { method: "PUT", bytes: Buffer.from("sent") },
  },
};

describe("the wait for a file job", () => {
  let fixture: FaceFixture;
  let replica: Replica | undefined;
  const start = async (settings: string[], about?: ReplicaOptions) => {
    await replica?.stop();
    replica = await fixture.start(["storage.file_op_settle=50ms", ...settings], about);
  };
  before(async () => {
    fixture = await openFaceFixture();
    await fixture.base.addServer("survival", "usr-1", { "level.dat": "one" });
  });
  afterEach(() => replica?.stop());
  after(() => fixture?.close());
  const levelDat = () => readFileSync(join(fixture.worldDir("survival"), "level.dat"), "utf8");
  const newest = async () => (await fileAudits(fixture.base, "survival")).at(-1);
  const filesJobs = async () => {
    const { items } = await fixture.base.kube.list(resources.jobs, { namespace });
    return items.filter(({ metadata }) => metadata.name.startsWith("files-"));
  };
  const refused = async ({ path, about }: { path: string; about: Ask }) => {
    const { status, body, headers } = await fixture.ask(path, about);
    const { code } = body["error"] as { code: string };
    return [status, code, Number(headers.get("retry-after")) > 0];
  };

  for (const [name, call] of Object.entries(calls)) {
    test(`${name}: a job that dies without a result is 503 with Retry-After, not 500`, async () => {
      await start(["storage.agent_image=svc.local/exits"]);
      assert.deepEqual(await refused(call), [503, "unavailable", true]);
      await until(async () => (await filesJobs()).length === 0);
    });
  }

  test("a job that vanishes is 503, and the audit log says that its outcome is unknown", async () => {
    await start(["storage.agent_image=svc.local/sleeps"]);
    const asking = refused(write);
    await until(async () => (await filesJobs()).length > 0);
    for (const { metadata } of await filesJobs())
      await fixture.base.kube.remove(resources.jobs, metadata, { propagationPolicy: "Background" });
    assert.deepEqual(await asking, [503, "unavailable", true]);
    await until(async () => (await newest())?.payload["error"] === "the job no longer exists");
    assert.equal((await newest())?.payload["outcome"], "unknown");
  });

  test("a job past its deadline is 503", async () => {
    await start(["storage.agent_image=svc.local/sleeps", "storage.file_deadline=1s"]);
    assert.deepEqual(await refused(write), [503, "unavailable", true]);
    assert.equal((await newest())?.payload["outcome"], "unknown");
  });

  /** Fails that many reads of Jobs, all of them when it is infinite. */
  const failing = (looks: { left: number }): ReplicaOptions => ({
    wrapKube: (kube: Kube) => ({
      ...kube,
      find: (kind, target, options) => {
        const isLook = kind.plural === "jobs" && target.name.startsWith("files-");
        if (isLook && looks.left-- > 0) return Promise.reject(new Fault("unavailable"));
        return kube.find(kind, target, options);
      },
    }),
  });

  test("failed reads of the Job do not end the wait", async () => {
    const looks = { left: 5 };
    await start([], failing(looks));
    assert.equal((await fixture.ask(write.path, written("three"))).status, 200);
    assert.ok(looks.left <= 0);
    assert.equal(levelDat(), "three");
  });

  test("when the cluster stays down, the wait ends at its deadline, and a change made meanwhile is in the audit log", async () => {
    const looks = { left: Number.POSITIVE_INFINITY };
    await start(["storage.file_wait=500ms"], failing(looks));
    const { status, body } = await fixture.ask(write.path, written("four"));
    assert.deepEqual([status, (body["error"] as { code: string }).code], [504, "files_timeout"]);
    looks.left = 0;
    await until(() => levelDat() === "four");
    await assertAudited(fixture.base, { server: "survival", action: "file.write", isChanged: true });
    await until(async () => (await newest())?.payload["outcome"] === "done");
  });

  test("a replica that stops during a wait answers 503, and another one records the end of the change", async () => {
    await start(["storage.agent_image=svc.local/sleeps", "storage.file_deadline=3s"]);
    const known = (await fileAudits(fixture.base, "survival")).length;
    const asking = refused(write);
    await until(async () => (await filesJobs()).some(({ status }) => (status?.active ?? 0) > 0));
    await start([]);
    assert.deepEqual(await asking, [503, "unavailable", true]);
    await until(async () => (await fileAudits(fixture.base, "survival")).length > known, 20_000);
    assert.equal((await newest())?.payload["outcome"], "unknown");
  });
});
