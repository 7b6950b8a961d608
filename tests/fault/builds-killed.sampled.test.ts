// kill -9 of everything that a pack passes through, at each step that is written down, on its way from the upload to the
// whitelist. Whoever asks again gets on: no build is stuck or doubled, an image is whitelisted with its verdict or not at all,
// every blob of it is in the registry, and nothing is left in the cluster or on disk.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { killPoint } from "@svc/config/testing";
import { resources } from "@svc/kube";
import { builds, isFault, submissions as submissionContracts, type submissions } from "@svc/proto";
import { listReferrers, parseManifest } from "@svc/registry";
import { account, until } from "../../libs/mesh/src/testing.ts";
import { makeTar } from "../../libs/world/src/testing.ts";
import {
  assertOnlyRetryable,
  createRetryingClient,
  type RetryingClient,
  retryUntil,
} from "../../services/storage/src/testing/retrying-client.ts";
import { isOfJob, namespace, openPipelineFixture, type PipelineFixture } from "./builds/fixture.ts";
import { cancels, type KillPoint, removals, table } from "./builds/kill-points.ts";

let fixture: PipelineFixture;
before(async () => {
  fixture = await openPipelineFixture();
});
after(() => fixture?.close());

const staff = account("usr-admin", "admin");
const partBytes = 60_000;
const longest = 60_000;
const refusedByDesign = /^409 upload_offset_mismatch$/;

/** Repeats a call over the mesh, as a person presses a button again. */
async function again<T>(call: () => Promise<T>): Promise<T | string> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isFault(error)) throw error;
      if (error.fault !== "unavailable") return error.fault;
      await delay(100);
    }
  }
}

async function submit(client: RetryingClient, context: Buffer): Promise<string> {
  const base = "/api/v1/me/submissions";
  const made = await retryUntil(client, "the submission", async () => {
    const answer = await client.ask(base, { method: "POST", json: { display_name: "My pack" } });
    return answer?.status === 201 ? (answer.body as submissions.Submission) : undefined;
  });
  await sendContext(client, made.id, context);
  return made.id;
}

async function sendContext(client: RetryingClient, id: string, context: Buffer): Promise<void> {
  const upload = `/api/v1/me/submissions/${id}/context/upload`;
  const sha256 = createHash("sha256").update(context).digest("hex");
  const sent = await retryUntil(client, "the upload", async () => {
    const now = await client.ask(upload);
    if (now?.status !== 200) return undefined;
    const received = Number(now.body["received"]);
    const isSent = received === 0 && (await rowOf(id))?.context_sha256 === sha256;
    if (received < context.length && !isSent) {
      const bytes = context.subarray(received, received + partBytes);
      await client.ask(`${upload}?offset=${received}`, { method: "PUT", bytes });
      return undefined;
    }
    const complete = await client.ask(`${upload}/complete`, { method: "POST" });
    return complete?.status === 200 ? (complete.body as submissions.Submission) : undefined;
  });
  assert.equal(sent.context_bytes, context.length);
}

const rowOf = (id: string) =>
  fixture.db.selectFrom("image_submissions").selectAll().where("id", "=", id).executeTakeFirst();
const buildsOf = (submission: string) =>
  fixture.db
    .selectFrom("image_builds")
    .selectAll()
    .where("submission_id", "=", submission)
    .orderBy("arrival")
    .execute();

async function approve(id: string): Promise<void> {
  const row = await rowOf(id);
  const digest = row?.context_sha256 ?? "";
  const outcome = await again(() =>
    fixture.gateway.call(submissionContracts.approve, { id, expected_digest: digest }, staff),
  );
  if (typeof outcome === "string") assert.equal(outcome, "already_reviewed");
}

/** The end of the newest build; one whose step died is repeated. */
async function built(submission: string, { isRetried }: { isRetried: boolean }) {
  for (;;) {
    const ended = await until(async () => {
      const newest = (await buildsOf(submission)).at(-1);
      return newest?.finished_at ? newest : undefined;
    }, longest);
    if (ended.status === "succeeded" || !isRetried) return ended;
    assert.equal(ended.status, "failed");
    await again(() => fixture.gateway.call(builds.retryBuild, { id: ended.id }, staff));
  }
}

async function killThrough(points: readonly KillPoint[], client: RetryingClient): Promise<void> {
  let reached = points[0] && fixture.pauseAt(points[0][0]);
  for (const [at, [step, victim]] of points.entries()) {
    await reached;
    const restart = await fixture.kill(victim);
    if (victim === "builds") client.abortWaiting();
    const next = points[at + 1]?.[0];
    // What waits in a Job waits anyway; builds can be told of its next step only when it is there.
    if (next === undefined || isOfJob(next)) fixture.resume(step);
    await restart();
    if (next === undefined) return;
    reached = fixture.pauseAt(next);
    fixture.resume(step);
  }
}

async function assertWhitelisted(build: Awaited<ReturnType<typeof built>>): Promise<void> {
  const { registry } = fixture.registry;
  const listed = await fixture.db
    .selectFrom("image_whitelist")
    .select("build_id")
    .where("image_ref", "=", build.image_ref)
    .execute();
  assert.deepEqual(listed, [{ build_id: build.id }]);
  const path = build.image_ref.slice(fixture.registry.host.length + 1).replace(":latest", "");
  const manifest = await registry.getManifest(path, "latest");
  assert.equal(manifest?.digest, build.image_digest);
  const parsed = manifest && parseManifest(manifest);
  assert.ok(parsed?.kind === "image");
  for (const { digest } of [parsed.config, ...parsed.layers])
    assert.ok(await registry.hasBlob(path, digest), `${digest} is in the registry`);
  const scan = await fixture.db
    .selectFrom("image_build_scans")
    .select("blocked")
    .where("build_id", "=", build.id)
    .execute();
  assert.deepEqual(scan, [{ blocked: false }]);
  const referrers = await listReferrers(registry, { path, digest: build.image_digest ?? "" });
  const kept = await fixture.db
    .selectFrom("image_provenances")
    .select("manifest_digest as digest")
    .where("build_id", "=", build.id)
    .execute();
  assert.deepEqual(
    referrers.map(({ digest }) => ({ digest })),
    kept,
  );
}

async function assertNothingLeft(submission: string): Promise<void> {
  for (const { id } of await buildsOf(submission)) {
    const runs = fixture.runs(id);
    assert.deepEqual(runs, [...new Set(runs)], "each step ran once");
    const about = { name: `build-${id}`, namespace };
    await until(async () => (await fixture.kube.find(resources.secrets, about)) === undefined, longest);
    const job = await fixture.kube.find(resources.jobs, about);
    assert.equal(job?.status?.active ?? 0, 0);
  }
  const waiting = await fixture.db.selectFrom("image_build_documents").selectAll().execute();
  assert.deepEqual(waiting, []);
  const row = await rowOf(submission);
  for (const { name } of row?.context_parts ?? []) assert.ok(existsSync(join(fixture.folder, name)), name);
}

const contextOf = (text: string) =>
  gzipSync(
    makeTar([
      { path: "Dockerfile", content: "FROM scratch\nCOPY pack /pack\n" },
      { path: "pack/text", content: text },
      { path: "pack/world", content: randomBytes(100_000) },
    ]),
  );

for (const [number, points] of table.entries()) {
  const what = points.map(([step, victim]) => `${victim} when ${step}`).join(", ");
  test(`a pack is whitelisted once although these are killed: ${what}`, killPoint(number, 20), async () => {
    const client = createRetryingClient(fixture);
    for (const [step] of points) if (isOfJob(step)) fixture.hold(step);
    const killed = killThrough(points, client);
    killed.catch(() => {});
    const id = await submit(client, contextOf("fine"));
    await approve(id);
    const isRetried = points.some(([, victim]) => victim === "the step");
    const build = await built(id, { isRetried });
    assert.deepEqual([build.status, build.error], ["succeeded", null]);
    await killed;
    assert.equal((await buildsOf(id)).length, isRetried ? 2 : 1);
    await assertWhitelisted(build);
    await assertNothingLeft(id);
    assertOnlyRetryable(client, refusedByDesign);
  });
}

test("a pack that the scan blocks is never whitelisted, whoever is killed", killPoint(1, 20), async () => {
  const points: KillPoint[] = [
    ["step scan-gate", "builds"],
    ["the build is ended", "builds"],
  ];
  const client = createRetryingClient(fixture);
  fixture.hold("step scan-gate");
  const killed = killThrough(points, client);
  killed.catch(() => {});
  const id = await submit(client, contextOf("blocked"));
  await approve(id);
  const build = await built(id, { isRetried: false });
  await killed;
  assert.match(build.error ?? "", /the scan blocked the image: 1 CRITICAL/);
  const listed = fixture.db
    .selectFrom("image_whitelist")
    .select("image_ref")
    .where("image_ref", "=", build.image_ref);
  assert.deepEqual(await listed.execute(), []);
  const path = build.image_ref.slice(fixture.registry.host.length + 1).replace(":latest", "");
  assert.equal(await fixture.registry.registry.headManifest(path, "latest"), undefined);
  await assertNothingLeft(id);
});

for (const [number, point] of removals.entries())
  test(
    `a pack that is uploaded anew has its last context, and nothing once it is withdrawn, although this is killed: ${point[1]} when ${point[0]}`,
    killPoint(number, 3),
    async () => {
      const client = createRetryingClient(fixture);
      const id = await submit(client, contextOf("first"));
      const last = contextOf("last");
      const killed = killThrough([point], client);
      killed.catch(() => {});
      await sendContext(client, id, last);
      await killed;
      const row = await rowOf(id);
      assert.equal(row?.context_sha256, createHash("sha256").update(last).digest("hex"));
      for (const { name } of row?.context_parts ?? [])
        assert.ok(existsSync(join(fixture.folder, name)), name);
      const going = killThrough([["a blob is removed", point[1]]], client);
      going.catch(() => {});
      await retryUntil(client, "the withdrawal", async () => {
        const answer = await client.ask(`/api/v1/me/submissions/${id}`, { method: "DELETE" });
        return answer?.status === 200 || answer?.status === 404 ? true : undefined;
      });
      await going;
      assert.equal(await rowOf(id), undefined);
      await until(() => !existsSync(join(fixture.folder, id)), longest);
    },
  );

for (const [number, point] of cancels.entries())
  test(
    `a build that is cancelled leaves no Job, no Secret and no image, although this is killed: ${point[1]} when ${point[0]}`,
    killPoint(number, 4),
    async () => {
      const client = createRetryingClient(fixture);
      fixture.hold("step build");
      const reached = fixture.pauseAt("step build");
      const id = await submit(client, contextOf("cancelled"));
      await approve(id);
      await reached;
      const [before] = await buildsOf(id);
      assert.ok(before);
      const killed = killThrough([point], client);
      killed.catch(() => {});
      const outcome = await again(() => fixture.gateway.call(builds.cancelBuild, { id: before.id }, staff));
      if (typeof outcome === "string") assert.equal(outcome, "build_finished");
      await killed;
      const about = { name: `build-${before.id}`, namespace };
      await until(async () => (await fixture.kube.find(resources.jobs, about)) === undefined, longest);
      fixture.resume("step build");
      const after = await buildsOf(id);
      assert.deepEqual(
        after.map(({ status, finished_at }) => [status, finished_at !== null]),
        [["cancelled", true]],
      );
      const listed = fixture.db
        .selectFrom("image_whitelist")
        .select("image_ref")
        .where("image_ref", "=", before.image_ref);
      assert.deepEqual([await listed.execute(), fixture.runs(before.id).includes("push")], [[], false]);
      await assertNothingLeft(id);
    },
  );

test("in the end the folder of contexts has what submissions name, and nothing else", async () => {
  const named = async () => {
    const rows = await fixture.db
      .selectFrom("image_submissions")
      .select(["context_parts", "context_index"])
      .execute();
    const uploads = await fixture.db.selectFrom("submission_uploads").select("parts").execute();
    const blobs = [...rows, ...uploads.map(({ parts }) => ({ context_parts: parts, context_index: null }))];
    return blobs.flatMap(({ context_parts, context_index }) => [
      ...context_parts.map(({ name }) => name),
      ...(context_index === null ? [] : [context_index]),
    ]);
  };
  const stored = () =>
    readdirSync(fixture.folder).flatMap((folder) =>
      readdirSync(join(fixture.folder, folder)).map((file) => `${folder}/${file}`),
    );
  await until(async () => stored().sort().join("\n") === (await named()).sort().join("\n"), longest);
});
