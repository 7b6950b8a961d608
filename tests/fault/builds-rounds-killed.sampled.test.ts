// kill -9 during what builds does by itself, and of the bucket that holds contexts: the prune of the registry, scans that are
// repeated, mails to authors. All of it is done in the end, and nothing that something names is lost.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { killPoint } from "@svc/config/testing";
import { submissions } from "@svc/proto";
import { until } from "../../libs/mesh/src/testing.ts";
import type { BuildRow } from "../../services/builds/src/build/row.ts";
import { assertOnlyRetryable, retryUntil } from "../../services/storage/src/testing/retrying-client.ts";
import { isOfJob, openPipelineFixture, type PipelineFixture } from "./builds/fixture.ts";
import { bucketTable, type KillPoint, mails, prunes, rescans } from "./builds/kill-points.ts";
import { again, assertCleaned, contextOf, createWalk, longest, staff, type Walk } from "./builds/walk.ts";

let fixture: PipelineFixture;
let walk: Walk;
/** On the whitelist from the first test on. */
let image: BuildRow;
before(async () => {
  fixture = await openPipelineFixture(["registry.prune_every=2s", "registry.rescan_every=3s"], {
    contextsIn: "bucket",
  });
  walk = createWalk(fixture);
});
after(() => fixture?.close());

const told = (points: readonly KillPoint[]) =>
  points.map(([step, victim]) => `${victim} when ${step}`).join(", ");

function startKilling(points: readonly KillPoint[], client = walk.client()): Promise<void> {
  const killed = walk.killThrough(points, client);
  killed.catch(() => {});
  return killed;
}

describe("a pack whose context is in a bucket", () => {
  for (const [number, points] of bucketTable.entries())
    test(
      `is whitelisted once although these are killed: ${told(points)}`,
      killPoint(number, 20),
      async () => {
        const client = walk.client();
        // Its Job may run before the test has learned of the step before.
        for (const [step] of points) if (isOfJob(step)) fixture.hold(step);
        const killed = startKilling(points, client);
        const id = await walk.submit(client, contextOf("fine"));
        await walk.approve(id);
        const build = await walk.built(id, { isRetried: false });
        assert.deepEqual([build.status, build.error], ["succeeded", null]);
        await killed;
        image = build;
        assert.equal((await walk.buildsOf(id)).length, 1);
        await walk.assertWhitelisted(build);
        await walk.assertNothingLeft(id);
        assertOnlyRetryable(client, /^409 upload_offset_mismatch$/);
      },
    );

  test("leaves nothing there once it is withdrawn, although the bucket is away when it is replaced", async () => {
    const client = walk.client();
    const id = await walk.submit(client, contextOf("first"));
    const killed = startKilling([["the upload is completed, committed", "the bucket"]], client);
    await walk.sendContext(client, id, contextOf("last"));
    await killed;
    await walk.assertNothingLeft(id);
    const withdraw = async () => {
      const answer = await client.ask(`/api/v1/me/submissions/${id}`, { method: "DELETE" });
      return answer?.status === 200 || answer?.status === 404 ? true : undefined;
    };
    await retryUntil(client, "the withdrawal", withdraw);
    fixture.age();
    await until(() => !fixture.stored().some((name) => name.startsWith(id)), longest);
  });
});

for (const [number, points] of prunes.entries())
  test(
    `a prune is done, and leaves what something names, although these are killed: ${told(points)}`,
    killPoint(number, 20),
    async () => {
      const { registry, host, pushOld, referOld } = fixture.registry;
      const path = `old/pack-${number}`;
      fixture.used.push(`${host}/${path}-used:1`);
      const killed = startKilling(points);
      const used = await pushOld(`${path}-used`, "1");
      for (const tag of ["1", "2", "3", "4"]) await pushOld(path, tag);
      await referOld(`${path}-signed`, await pushOld(`${path}-signed`, "1"), "provenance");
      await killed;
      for (const gone of [path, `${path}-signed`])
        await until(async () => (await registry.listTags(gone)).length === 0, longest);
      assert.equal((await registry.headManifest(`${path}-used`, "1"))?.digest, used);
      await walk.assertWhitelisted(image);
    },
  );

for (const [number, points] of rescans.entries())
  test(
    `an image is scanned again, one scan at a time, although these are killed: ${told(points)}`,
    killPoint(number, 20),
    async () => {
      const scans = () =>
        fixture.db
          .selectFrom("image_builds")
          .select(["id", "status", "finished_at"])
          .where("kind", "=", "scan")
          .where("image_digest", "=", image.image_digest)
          .orderBy("arrival")
          .execute();
      const known = new Set((await scans()).flatMap(({ id, finished_at }) => (finished_at ? id : [])));
      await startKilling(points);
      const next = await until(async () => {
        const all = await scans();
        assert.ok(all.filter(({ finished_at }) => finished_at === null).length <= 1, "one scan at a time");
        return all.find(({ id, status }) => status === "succeeded" && !known.has(id));
      }, longest);
      await assertCleaned(fixture, next.id);
      await walk.assertWhitelisted(image);
    },
  );

for (const [number, point] of mails.entries())
  test(`an author is mailed although this is killed: ${told([point])}`, killPoint(number, 20), async () => {
    const client = walk.client();
    const id = await walk.submit(client, contextOf("rejected"));
    const reason = `There is no licence (${number}).`;
    const killed = startKilling([point], client);
    const outcome = await again(() => fixture.gateway.call(submissions.reject, { id, reason }, staff));
    if (typeof outcome === "string") assert.equal(outcome, "already_reviewed");
    await killed;
    const isSent = async () => {
      const waiting = fixture.db.updateTable("submission_notices").where("sent_at", "is", null);
      // What a dead process had taken is due after a minute.
      await waiting.set({ due_at: new Date(0) }).execute();
      const row = fixture.db.selectFrom("submission_notices").select("sent_at");
      const found = await row.where("event", "=", `rejected:${id}`).executeTakeFirstOrThrow();
      return found.sent_at !== null;
    };
    await until(isSent, longest);
    const { length } = fixture.mails.filter(({ facts }) => facts["reason"] === reason);
    // Twice when the first was not noted down.
    assert.ok(length === 1 || length === 2, `${length} mails`);
  });

test("in the end the bucket has what submissions name, and nothing else", () => walk.assertOnlyNamedBlobs());
