// kill -9 of everything that a pack passes through, at each step that is written down, on its way from the upload to the
// whitelist. Whoever asks again gets on: no build is stuck or doubled, an image is whitelisted with its verdict or not at all,
// every blob of it is in the registry, and nothing is left in the cluster or on disk.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { killPoint } from "@svc/config/testing";
import { resources } from "@svc/kube";
import { builds } from "@svc/proto";
import { until } from "../../libs/mesh/src/testing.ts";
import { assertOnlyRetryable, retryUntil } from "../../services/storage/src/testing/retrying-client.ts";
import { isOfJob, namespace, openPipelineFixture, type PipelineFixture } from "./builds/fixture.ts";
import { cancels, type KillPoint, removals, table } from "./builds/kill-points.ts";
import { again, contextOf, createWalk, longest, sha256Of, staff, type Walk } from "./builds/walk.ts";

let fixture: PipelineFixture;
let walk: Walk;
before(async () => {
  fixture = await openPipelineFixture();
  walk = createWalk(fixture);
});
after(() => fixture?.close());

const refusedByDesign = /^409 upload_offset_mismatch$/;
const listedOf = (image_ref: string) =>
  fixture.db.selectFrom("image_whitelist").select("image_ref").where("image_ref", "=", image_ref).execute();

for (const [number, points] of table.entries()) {
  const what = points.map(([step, victim]) => `${victim} when ${step}`).join(", ");
  test(`a pack is whitelisted once although these are killed: ${what}`, killPoint(number, 20), async () => {
    const client = walk.client();
    for (const [step] of points) if (isOfJob(step)) fixture.hold(step);
    const killed = walk.killThrough(points, client);
    killed.catch(() => {});
    const id = await walk.submit(client, contextOf("fine"));
    await walk.approve(id);
    const isRetried = points.some(([, victim]) => victim === "the step");
    const build = await walk.built(id, { isRetried });
    assert.deepEqual([build.status, build.error], ["succeeded", null]);
    await killed;
    assert.equal((await walk.buildsOf(id)).length, isRetried ? 2 : 1);
    await walk.assertWhitelisted(build);
    await walk.assertNothingLeft(id);
    assertOnlyRetryable(client, refusedByDesign);
  });
}

test("a pack that the scan blocks is never whitelisted, whoever is killed", killPoint(1, 20), async () => {
  const points: KillPoint[] = [
    ["step scan-gate", "builds"],
    ["the build is ended", "builds"],
  ];
  const client = walk.client();
  fixture.hold("step scan-gate");
  const killed = walk.killThrough(points, client);
  killed.catch(() => {});
  const id = await walk.submit(client, contextOf("blocked"));
  await walk.approve(id);
  const build = await walk.built(id, { isRetried: false });
  await killed;
  assert.match(build.error ?? "", /the scan blocked the image: 1 CRITICAL/);
  assert.deepEqual(await listedOf(build.image_ref), []);
  const path = build.image_ref.slice(fixture.registry.host.length + 1).replace(":latest", "");
  assert.deepEqual(await fixture.registry.registry.listTags(path), []);
  await walk.assertNothingLeft(id);
});

for (const [number, point] of removals.entries())
  test(
    `a pack that is uploaded anew has its last context, and nothing once it is withdrawn, although this is killed: ${point[1]} when ${point[0]}`,
    killPoint(number, 3),
    async () => {
      const client = walk.client();
      const id = await walk.submit(client, contextOf("first"));
      const last = contextOf("last");
      const killed = walk.killThrough([point], client);
      killed.catch(() => {});
      await walk.sendContext(client, id, last);
      await killed;
      const row = await walk.rowOf(id);
      assert.equal(row?.context_sha256, sha256Of(last));
      const stored = fixture.stored();
      for (const { name } of row?.context_parts ?? []) assert.ok(stored.includes(name), name);
      const going = walk.killThrough([["a blob is removed", point[1]]], client);
      going.catch(() => {});
      const withdraw = async () => {
        const answer = await client.ask(`/api/v1/me/submissions/${id}`, { method: "DELETE" });
        return answer?.status === 200 || answer?.status === 404 ? true : undefined;
      };
      await retryUntil(client, "the withdrawal", withdraw);
      await going;
      assert.equal(await walk.rowOf(id), undefined);
      fixture.age();
      await until(() => !fixture.stored().some((name) => name.startsWith(id)), longest);
    },
  );

for (const [number, point] of cancels.entries())
  test(
    `a build that is cancelled leaves no Job, no Secret and no image, although this is killed: ${point[1]} when ${point[0]}`,
    killPoint(number, 4),
    async () => {
      const client = walk.client();
      fixture.hold("step build");
      const reached = fixture.pauseAt("step build");
      const id = await walk.submit(client, contextOf("cancelled"));
      await walk.approve(id);
      await reached;
      const [before] = await walk.buildsOf(id);
      assert.ok(before);
      const killed = walk.killThrough([point], client);
      killed.catch(() => {});
      const outcome = await again(() => fixture.gateway.call(builds.cancelBuild, { id: before.id }, staff));
      if (typeof outcome === "string") assert.equal(outcome, "build_finished");
      await killed;
      const about = { name: `build-${before.id}`, namespace };
      await until(async () => (await fixture.kube.find(resources.jobs, about)) === undefined, longest);
      fixture.resume("step build");
      const after = await walk.buildsOf(id);
      assert.deepEqual(
        after.map(({ status, finished_at }) => [status, finished_at !== null]),
        [["cancelled", true]],
      );
      const hasPushed = fixture.runs(before.id).includes("push");
      assert.deepEqual([await listedOf(before.image_ref), hasPushed], [[], false]);
      await walk.assertNothingLeft(id);
    },
  );

test("in the end the folder of contexts has what submissions name, and nothing else", () =>
  walk.assertOnlyNamedBlobs());
