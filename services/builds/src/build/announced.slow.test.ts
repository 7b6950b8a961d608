// Every end of a build is one event, and none comes without an end: a replica dies before the end is committed, after it, and
// between the publishing of the event and the note that it was published.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Mesh } from "@svc/mesh";
import { until } from "@svc/mesh/testing";
import { builds } from "@svc/proto";
import { type BuildFixture, digest, openBuildFixture, success } from "../testing/build-fixture.ts";
import { admin } from "../testing/fixture.ts";

const submission = `sub-${"a".repeat(24)}`;
const died = () => Promise.reject(new Error("the replica died"));

let fixture: BuildFixture;
let operator: Mesh;
before(async () => {
  fixture = await openBuildFixture();
  operator = await fixture.nats.connect("operator");
  const author = { submitted_by: "alice", submitted_by_id: "usr-1", display_name: "Cliffs" };
  await fixture.db
    .insertInto("image_submissions")
    .values({ id: submission, ...author, context_sha256: "c".repeat(64), context_bytes: 3 })
    .execute();
});
after(async () => {
  await operator?.drain(500);
  await fixture?.close();
});

let started = 0;
const start = () =>
  fixture.gateway.call(builds.startBuild, fixture.request(`announced-${started++}`) as never, admin);
const rowOf = (id: string) =>
  fixture.db.selectFrom("image_builds").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
const hasEnded = (id: string) => until(async () => (await rowOf(id)).finished_at !== null, 90_000);
const waiting = async (id: string) => {
  const rows = await fixture.db.selectFrom("outbox").select("subject").execute();
  return rows.filter(({ subject }) => subject.endsWith(`.${id}`)).length;
};

/** What the stream has of the ends of a build, once nothing waits for its publishing. */
async function eventsOf(id: string): Promise<unknown[]> {
  await until(async () => (await waiting(id)) === 0, 60_000);
  const events: unknown[] = [];
  const caughtUp = Promise.withResolvers<void>();
  const following = operator.follow({
    stream: "BUILDS",
    subject: `svc.evt.builds.build.ended.${id}`,
    since: new Date(0),
    onEvent: ({ data }) => events.push(data),
    onCaughtUp: caughtUp.resolve,
  });
  await caughtUp.promise;
  await following.close();
  return events;
}

async function assertAnnounced(id: string, wanted: object): Promise<void> {
  const { image_ref, finished_at } = await rowOf(id);
  const common = { id, image_ref, at: finished_at?.toISOString(), requested_by: "usr-admin" };
  const pack = { submission_id: submission, owner_id: "usr-1", display_name: "Cliffs" };
  assert.deepEqual(await eventsOf(id), [{ ...common, ...pack, ...wanted }]);
}

test("a build that succeeds, one that fails, one that is cancelled and a repetition have an event each", async () => {
  const replica = await fixture.start();
  fixture.script(success);
  const succeeded = await start();
  await hasEnded(succeeded.id);
  await assertAnnounced(succeeded.id, { outcome: "succeeded", digest });

  fixture.script({ ...success, build: { message: "COPY failed: no such file", exit: 1 } });
  const failed = await start();
  await hasEnded(failed.id);
  const why = { outcome: "failed", failed_step: "build", cause: "COPY failed: no such file" };
  await assertAnnounced(failed.id, why);
  const repeated = await fixture.gateway.call(builds.retryBuild, { id: failed.id }, admin);
  await hasEnded(repeated.id);
  await assertAnnounced(repeated.id, { ...why, retry_of: failed.id });

  fixture.script({ ...success, build: { waitWhile: "cancelled" } });
  fixture.hold("cancelled");
  const cancelled = await start();
  await until(() => fixture.runs(cancelled.id).includes("build"), 90_000);
  await fixture.gateway.call(builds.cancelBuild, { id: cancelled.id }, admin);
  fixture.release("cancelled");
  await assertAnnounced(cancelled.id, { outcome: "cancelled" });
  await replica.stop();
});

const outcomes: Record<string, [script: typeof success, wanted: object]> = {
  succeeds: [success, { outcome: "succeeded", digest }],
  fails: [
    { ...success, scan: { message: "no space", exit: 1 } },
    { outcome: "failed", failed_step: "scan", cause: "no space" },
  ],
};
for (const [outcome, [script, wanted]] of Object.entries(outcomes)) {
  test(`a build that ${outcome} has one event although a replica dies before its end is committed`, async () => {
    fixture.script(script);
    let deaths = 0;
    const onBuildEnded = () => {
      deaths += 1;
      return died();
    };
    const first = await fixture.start({ onBuildEnded });
    const { id } = await start();
    await until(() => deaths > 1, 90_000);
    await first.stop();
    assert.deepEqual([(await rowOf(id)).status, await eventsOf(id)], ["building", []]);
    const second = await fixture.start();
    await hasEnded(id);
    await assertAnnounced(id, wanted);
    await second.stop();
  });

  test(`a build that ${outcome} has one event although a replica dies before it is published, and another after`, async () => {
    fixture.script(script);
    const first = await fixture.start({ wrapPublish: () => died });
    const { id } = await start();
    await hasEnded(id);
    await first.stop();
    assert.equal(await waiting(id), 1);
    let published = 0;
    const second = await fixture.start({
      wrapPublish: (publish) => async (messages) => {
        await publish(messages);
        published += 1;
        return died();
      },
    });
    await until(() => published > 0, 60_000);
    await second.stop();
    assert.equal(await waiting(id), 1);
    const third = await fixture.start();
    await assertAnnounced(id, wanted);
    await third.stop();
  });
}
