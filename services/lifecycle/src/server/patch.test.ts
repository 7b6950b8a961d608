import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { faultOf } from "@svc/mesh/testing";
import { type Fixture, openFixture } from "../testing/fixture.ts";
import { createServerOperations, noImage, operationSettings } from "../testing/server-operations.ts";

let fixture: Fixture;
before(async () => {
  fixture = await openFixture();
  await fixture.start(operationSettings);
});
after(() => fixture.close());

const { create, patch, getServer, sql } = createServerOperations(() => fixture);

describe("changing a server", () => {
  before(async () => {
    await create({ name: "changed", memory: "2Gi", resources: { cpu: "2", cpuRequest: "500m" } });
  });

  test("only what is named changes", async () => {
    const answer = await patch("changed", { displayName: "  New name ", autostartPolicy: "public" });
    assert.deepEqual(answer, { name: "changed", patched: ["displayName", "autostartPolicy"] });
    const { spec } = await getServer("changed");
    assert.equal(spec.displayName, "New name");
    assert.equal(spec.autostartPolicy, "public");
    assert.equal(spec.javaMemory, "1536M");
    await patch("changed", { displayName: "" });
    assert.equal((await getServer("changed")).spec.displayName, undefined);
    const entries = (await fixture.audits()).filter(({ action }) => action === "server.patch");
    assert.deepEqual(entries.at(-1)?.payload, { fields: ["displayName"] }, "the audit log names no other");
  });

  test("memory sets limit and request, and the heap follows", async () => {
    await patch("changed", { memory: "8Gi" });
    const { spec } = await getServer("changed");
    assert.deepEqual(spec.resources, {
      limits: { memory: "8Gi", cpu: "2" },
      requests: { memory: "8Gi", cpu: "500m" },
    });
    assert.equal(spec.javaMemory, "6144M");
    const [row] = await sql(
      "select cached_memory_mb, cached_cpu_milli from lifecycle.servers where name = 'changed'",
    );
    assert.deepEqual(row, { cached_memory_mb: 8192, cached_cpu_milli: 2000 });
  });

  test("an empty text removes a CPU value, memory cannot be removed", async () => {
    await patch("changed", { resources: { cpu: "", cpuRequest: "" } });
    assert.deepEqual((await getServer("changed")).spec.resources?.limits, { memory: "8Gi" });
    assert.equal(await faultOf(patch("changed", { resources: { memory: "" } })), "bad_request");
    assert.equal(await faultOf(patch("changed", { resources: { memoryRequest: "9Gi" } })), "bad_request");
  });

  test("switching idle stop off keeps its seconds", async () => {
    await patch("changed", { idleStopSeconds: 120 });
    await patch("changed", { idleStopSeconds: 0 });
    assert.deepEqual((await getServer("changed")).spec.idle, {
      autoStopEnabled: false,
      emptySecondsBeforeStop: 120,
    });
    assert.equal(await faultOf(patch("changed", { idleStopSeconds: 59 })), "bad_idle_stop");
  });

  test("an image changes only when confirmed, and the audit log has both", async () => {
    assert.equal(
      await faultOf(patch("changed", { image: "svc.local/nothing:2" })),
      "image_change_unconfirmed",
    );
    assert.equal(
      await faultOf(patch("changed", { image: "elsewhere:1", confirmImageChange: true })),
      "image_not_whitelisted",
    );
    await patch("changed", { image: "svc.local/nothing:2", confirmImageChange: true });
    const entry = (await fixture.audits()).find(
      ({ payload }) => payload["image_to"] === "svc.local/nothing:2",
    );
    assert.equal(entry?.payload["image_from"], noImage);
    assert.equal(await faultOf(patch("changed", { image: "svc.local/nothing:2" })), "none");
  });

  test("an image is stored as its digest: the same digest is not a change, a moved tag is one", async () => {
    const [old, fresh] = [`sha256:${"a".repeat(64)}`, `sha256:${"b".repeat(64)}`];
    const tag = "svc.local/nothing:pinned";
    fixture.library.pins.set(tag, old);
    await create({ name: "pinned", image: tag });
    assert.equal((await getServer("pinned")).spec.image, `${tag}@${old}`);
    assert.equal(await faultOf(patch("pinned", { image: tag })), "none");
    assert.equal(await faultOf(patch("pinned", { image: `${tag}@${old}` })), "none");
    fixture.library.pins.set(tag, fresh);
    assert.equal(await faultOf(patch("pinned", { image: tag })), "image_change_unconfirmed");
    assert.equal((await getServer("pinned")).spec.image, `${tag}@${old}`);
    await patch("pinned", { image: tag, confirmImageChange: true });
    assert.equal((await getServer("pinned")).spec.image, `${tag}@${fresh}`);
  });

  test("without the registry no unverified image is accepted, and everything else works", async () => {
    fixture.library.isAway = true;
    const image = "svc.local/nothing:3";
    const answers = await Promise.all([
      faultOf(create({ name: "no-registry" })),
      faultOf(patch("pinned", { image, confirmImageChange: true })),
      faultOf(patch("pinned", { displayName: "Pinned" })),
    ]).finally(() => {
      fixture.library.isAway = false;
    });
    assert.deepEqual(answers, ["registry_unavailable", "registry_unavailable", "none"]);
  });

  test("the storage never changes, an empty change is refused", async () => {
    assert.equal(await faultOf(patch("changed", { storage: "16Gi" })), "storage_immutable");
    assert.equal(await faultOf(patch("changed", {})), "bad_request");
    assert.equal(await faultOf(patch("changed", { confirmImageChange: true })), "bad_request");
    assert.equal(await faultOf(patch("nobody-here", { memory: "1Gi" })), "not_found");
    assert.equal(await faultOf(patch("lobby", { memory: "1Gi" })), "bad_name");
  });
});
