// A pack on its way from the upload to the whitelist, by people who press each button again until it works, while somebody kills what
// they talk to.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { resources } from "@svc/kube";
import { builds, isFault, submissions as submissionContracts, type submissions } from "@svc/proto";
import { listReferrers, parseManifest } from "@svc/registry";
import { account, until } from "../../../libs/mesh/src/testing.ts";
import { makeTar } from "../../../libs/world/src/testing.ts";
import type { BuildRow } from "../../../services/builds/src/build/row.ts";
import type { SubmissionRow } from "../../../services/builds/src/submission/row.ts";
import {
  createRetryingClient,
  type RetryingClient,
  retryUntil,
} from "../../../services/storage/src/testing/retrying-client.ts";
import { isOfJob, namespace, type PipelineFixture } from "./fixture.ts";
import type { KillPoint } from "./kill-points.ts";

export const staff = account("usr-admin", "admin");
const partBytes = 60_000;
/** For what only a hang does not reach: a busy machine takes minutes over a build whose parts are killed seven times. */
export const longest = 300_000;

export type Walk = {
  client: () => RetryingClient;
  /** Returns the id of a submission with this context. */
  submit: (client: RetryingClient, context: Buffer) => Promise<string>;
  sendContext: (client: RetryingClient, id: string, context: Buffer) => Promise<void>;
  approve: (id: string) => Promise<void>;
  /** The end of the newest build of a submission; one whose step died is repeated. */
  built: (submission: string, about: { isRetried: boolean }) => Promise<BuildRow>;
  rowOf: (id: string) => Promise<SubmissionRow | undefined>;
  buildsOf: (submission: string) => Promise<BuildRow[]>;
  /** Kills one after the other, each at its step. */
  killThrough: (points: readonly KillPoint[], client: RetryingClient) => Promise<void>;
  assertWhitelisted: (build: BuildRow) => Promise<void>;
  assertNothingLeft: (submission: string) => Promise<void>;
  /** In the end blobs are stored that rows name, and no others. */
  assertOnlyNamedBlobs: () => Promise<void>;
};

/** Repeats a call over the mesh, as a person presses a button again. */
export async function again<T>(call: () => Promise<T>): Promise<T | string> {
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

export const contextOf = (text: string): Buffer =>
  gzipSync(
    makeTar([
      { path: "Dockerfile", content: "FROM scratch\nCOPY pack /pack\n" },
      { path: "pack/text", content: text },
      { path: "pack/world", content: randomBytes(100_000) },
    ]),
  );

export const sha256Of = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

export function createWalk(fixture: PipelineFixture): Walk {
  const rowOf: Walk["rowOf"] = (id) =>
    fixture.db.selectFrom("image_submissions").selectAll().where("id", "=", id).executeTakeFirst();
  const buildsOf: Walk["buildsOf"] = (submission) =>
    fixture.db
      .selectFrom("image_builds")
      .selectAll()
      .where("submission_id", "=", submission)
      .orderBy("arrival")
      .execute();
  const sendContext: Walk["sendContext"] = (client, id, context) =>
    send({
      client,
      id,
      context,
      isStored: async () => (await rowOf(id))?.context_sha256 === sha256Of(context),
    });
  return {
    rowOf,
    buildsOf,
    sendContext,
    client: () => createRetryingClient(fixture, longest),
    submit: async (client, context) => {
      const made = await retryUntil(client, "the submission", async () => {
        const json = { display_name: "My pack" };
        const answer = await client.ask("/api/v1/me/submissions", { method: "POST", json });
        return answer?.status === 201 ? (answer.body as submissions.Submission) : undefined;
      });
      await sendContext(client, made.id, context);
      return made.id;
    },
    approve: async (id) => {
      const expected_digest = (await rowOf(id))?.context_sha256 ?? "";
      const outcome = await again(() =>
        fixture.gateway.call(submissionContracts.approve, { id, expected_digest }, staff),
      );
      if (typeof outcome === "string") assert.equal(outcome, "already_reviewed");
    },
    built: async (submission, { isRetried }) => {
      for (;;) {
        const ended = await until(async () => {
          const newest = (await buildsOf(submission)).at(-1);
          return newest?.finished_at ? newest : undefined;
        }, longest);
        if (ended.status === "succeeded" || !isRetried) return ended;
        assert.equal(ended.status, "failed");
        await again(() => fixture.gateway.call(builds.retryBuild, { id: ended.id }, staff));
      }
    },
    killThrough: (points, client) => killThrough(fixture, points, client),
    assertWhitelisted: (build) => assertWhitelisted(fixture, build),
    assertNothingLeft: async (submission) => {
      for (const { id, status } of await buildsOf(submission)) {
        await assertCleaned(fixture, id);
        await assertAnnounced(fixture, { id, status });
      }
      const stored = new Set(fixture.stored());
      for (const { name } of (await rowOf(submission))?.context_parts ?? [])
        assert.ok(stored.has(name), name);
    },
    assertOnlyNamedBlobs: async () => {
      fixture.age();
      const isSame = async () =>
        fixture.stored().sort().join("\n") === (await namedBlobs(fixture)).sort().join("\n");
      await until(isSame, longest);
    },
  };
}

type Sending = { client: RetryingClient; id: string; context: Buffer; isStored: () => Promise<boolean> };

async function send({ client, id, context, isStored }: Sending): Promise<void> {
  const upload = `/api/v1/me/submissions/${id}/context/upload`;
  const sent = await retryUntil(client, "the upload", async () => {
    const now = await client.ask(upload);
    if (now?.status !== 200) return undefined;
    const received = Number(now.body["received"]);
    if (received < context.length && !(received === 0 && (await isStored()))) {
      const bytes = context.subarray(received, received + partBytes);
      await client.ask(`${upload}?offset=${received}`, { method: "PUT", bytes });
      return undefined;
    }
    const complete = await client.ask(`${upload}/complete`, { method: "POST" });
    return complete?.status === 200 ? (complete.body as submissions.Submission) : undefined;
  });
  assert.equal(sent.context_bytes, context.length);
}

async function killThrough(
  fixture: PipelineFixture,
  points: readonly KillPoint[],
  client: RetryingClient,
): Promise<void> {
  let reached = points[0] && fixture.pauseAt(points[0][0]);
  for (const [at, [step, victim]] of points.entries()) {
    await reached;
    const restart = await fixture.kill(victim);
    if (victim === "builds") client.abortWaiting();
    const next = points[at + 1]?.[0];
    // Before anything goes on: the next step may come at once.
    reached = next === undefined ? undefined : fixture.pauseAt(next);
    // Nobody sees a failure here that is awaited in the next round.
    reached?.catch(() => {});
    // What waits in a Job waits anyway; others go on once everything is back.
    if (next === undefined || isOfJob(next)) fixture.resume(step);
    await restart();
    // A new process of builds waits for nothing but its next step.
    if (next !== undefined && (isOfJob(step) || victim !== "builds")) fixture.resume(step);
  }
}

async function assertWhitelisted({ db, registry: { registry, host } }: PipelineFixture, build: BuildRow) {
  const listed = await db
    .selectFrom("image_whitelist")
    .select("build_id")
    .where("image_ref", "=", build.image_ref)
    .execute();
  assert.deepEqual(listed, [{ build_id: build.id }]);
  const path = build.image_ref.slice(host.length + 1).replace(":latest", "");
  const manifest = await registry.getManifest(path, "latest");
  assert.equal(manifest?.digest, build.image_digest);
  const parsed = manifest && parseManifest(manifest);
  assert.ok(parsed?.kind === "image");
  for (const { digest } of [parsed.config, ...parsed.layers])
    assert.ok(await registry.hasBlob(path, digest), `${digest} is in the registry`);
  const scan = await db
    .selectFrom("image_build_scans")
    .select("blocked")
    .where("build_id", "=", build.id)
    .execute();
  assert.deepEqual(scan, [{ blocked: false }]);
  const referrers = await listReferrers(registry, { path, digest: build.image_digest ?? "" });
  const kept = await db
    .selectFrom("image_provenances")
    .select("manifest_digest as digest")
    .where("build_id", "=", build.id)
    .execute();
  assert.deepEqual(
    referrers.map(({ digest }) => ({ digest })),
    kept,
  );
}

/** Nothing of a build, or of a scan, is left in the cluster but its finished Job. */
export async function assertCleaned(fixture: PipelineFixture, id: string): Promise<void> {
  const runs = fixture.runs(id);
  assert.deepEqual(runs, [...new Set(runs)], "each step ran once");
  const about = { name: `build-${id}`, namespace };
  await until(async () => (await fixture.kube.find(resources.secrets, about)) === undefined, longest);
  const job = await fixture.kube.find(resources.jobs, about);
  assert.equal(job?.status?.active ?? 0, 0);
  const documents = fixture.db.selectFrom("image_build_documents").select("document");
  assert.deepEqual(await documents.where("build_id", "=", id).execute(), []);
}

/** Its end is in the stream once. */
async function assertAnnounced(
  { db, operator }: PipelineFixture,
  { id, status }: Pick<BuildRow, "id" | "status">,
): Promise<void> {
  const subject = `svc.evt.builds.build.ended.${id}`;
  const isPublished = async () => {
    const waiting = db.selectFrom("outbox").select("subject").where("subject", "=", subject);
    return (await waiting.execute()).length === 0;
  };
  await until(isPublished, longest);
  const outcomes: unknown[] = [];
  const caughtUp = Promise.withResolvers<void>();
  const following = operator.follow({
    stream: "BUILDS",
    subject,
    since: new Date(0),
    onEvent: ({ data }) => outcomes.push((data as { outcome: string }).outcome),
    onCaughtUp: caughtUp.resolve,
  });
  await caughtUp.promise;
  await following.close();
  assert.deepEqual(outcomes, [status]);
}

async function namedBlobs({ db }: PipelineFixture): Promise<string[]> {
  const rows = await db.selectFrom("image_submissions").select(["context_parts", "context_index"]).execute();
  const uploads = await db.selectFrom("submission_uploads").select("parts").execute();
  return [
    ...rows.flatMap(({ context_parts }) => context_parts.map(({ name }) => name)),
    ...rows.flatMap(({ context_index }) => context_index ?? []),
    ...uploads.flatMap(({ parts }) => parts.map(({ name }) => name)),
  ];
}
