import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { resources } from "@svc/kube";
import { fetchBytes, type RawReply, sendBytes } from "@svc/mesh";
import { faultOf, until } from "@svc/mesh/testing";
import { acceptances, builds, scans } from "@svc/proto";
import {
  type BuildFixture,
  type BuildReplica,
  blockedVerdict,
  digest,
  namespace,
  openBuildFixture,
  success,
} from "../testing/build-fixture.ts";
import { admin } from "../testing/fixture.ts";

let fixture: BuildFixture;
let replicas: BuildReplica[];
before(async () => {
  fixture = await openBuildFixture();
  replicas = [await fixture.start(), await fixture.start()];
});
after(() => fixture?.close());

let started = 0;
const start = (more: object = {}) =>
  fixture.gateway.call(
    builds.startBuild,
    { ...(fixture.request(`pack-${started++}`) as object), ...more } as never,
    admin,
  );
const ended = (id: string) =>
  until(async () => {
    const build = await fixture.read(id);
    return build.finished_at === undefined ? undefined : build;
  }, 60_000);
const whitelisted = async (ref: string) =>
  fixture.db.selectFrom("image_whitelist").selectAll().where("image_ref", "=", ref).executeTakeFirst();
const jobOf = (id: string) => fixture.kube.find(resources.jobs, { name: `build-${id}`, namespace });
const running = (id: string, step: string) =>
  until(async () => {
    const { progress } = await fixture.read(id);
    return progress?.steps.find(({ name }) => name === step)?.state === "running";
  }, 60_000);

test("a build runs step by step, and its image is whitelisted with the digest that was pushed", async () => {
  fixture.script(success);
  const { id, status, image_ref } = await start();
  assert.equal(status, "pending");
  const build = await ended(id);
  assert.deepEqual([build.status, build.error, build.image_digest], ["succeeded", undefined, digest]);
  const states = build.progress?.steps.map(({ name, state }) => `${name} ${state}`);
  assert.deepEqual(states, [
    "egress-gate skipped",
    ...["context-fetch", "build", "scan", "sbom", "scan-gate", "push"].map((step) => `${step} succeeded`),
  ]);
  assert.deepEqual([build.progress?.percent, build.dockerfile], [100, "FROM scratch"]);
  const entry = await whitelisted(image_ref);
  assert.deepEqual(
    [entry?.source, entry?.build_id, entry?.added_by, entry?.enabled],
    ["built", id, "usr-admin", true],
  );
  const scan = await fixture.gateway.call(scans.readScan, { id }, admin);
  assert.deepEqual([scan.summary.packages, scan.has_report, scan.has_sbom], [3, false, false]);
  assert.ok(fixture.ended.includes(`${id} succeeded`));
  const secret = () => fixture.kube.find(resources.secrets, { name: `build-${id}`, namespace });
  await until(async () => (await secret()) === undefined, 60_000);
});

const failures: Record<string, [script: typeof success, error: string, hasScan: boolean]> = {
  "that its scan blocks is failed, has its scan, and is not whitelisted": [
    {
      ...success,
      "scan-gate": { print: [blockedVerdict], message: "the scan blocked the image", exit: 1 },
    },
    "scan-gate: the scan blocked the image: 1 CRITICAL (CVE-2026-1)",
    true,
  ],
  "whose step fails names the step and its last words": [
    { ...success, build: { print: ["STEP 1"], message: "COPY failed: no such file\nmods", exit: 1 } },
    "build: COPY failed: no such file mods",
    false,
  ],
  "whose step ends without a word names its exit code": [
    { ...success, "context-fetch": { exit: 3 } },
    "context-fetch: it ended with exit code 3 and without a message",
    false,
  ],
  "that pushes without a verdict is not whitelisted": [
    { ...success, "scan-gate": { print: ["svc-verdict {"] } },
    "scan-gate: it left no verdict; the image is not whitelisted",
    false,
  ],
  "whose push names no digest is not whitelisted": [
    { ...success, push: { message: "done" } },
    "push: it left no digest; the image is not whitelisted",
    true,
  ],
};
for (const [fact, [script, error, hasScan]] of Object.entries(failures)) {
  test(`a build ${fact}`, async () => {
    fixture.script(script);
    const { id, image_ref } = await start();
    const build = await ended(id);
    assert.deepEqual([build.status, build.error], ["failed", error]);
    assert.equal(await whitelisted(image_ref), undefined);
    const scan = await faultOf(fixture.gateway.call(scans.readScan, { id }, admin));
    assert.equal(scan, hasScan ? "none" : "scan_not_found");
  });
}

test("of three builds two run at once over both replicas, the oldest first", async () => {
  fixture.script({ ...success, build: { waitWhile: "slots" } });
  fixture.hold("slots");
  const three = [await start(), await start(), await start()];
  const [first, second, third] = three.map(({ id }) => id) as [string, string, string];
  await Promise.all([running(first, "build"), running(second, "build")]);
  assert.equal((await fixture.read(third)).status, "pending");
  const { total } = await fixture.gateway.call(builds.listBuilds, { query: "pending" } as never, admin);
  assert.equal(total, 1);
  fixture.release("slots");
  for (const { id } of three) assert.equal((await ended(id)).status, "succeeded");
});

test("a running build is cancelled with its Job, one that waits without any, and neither twice", async () => {
  fixture.script({ ...success, build: { print: ["STEP 1"], waitWhile: "cancel" } });
  fixture.hold("cancel");
  const three = [await start(), await start(), await start()];
  const [first = "", , third = ""] = three.map(({ id }) => id);
  await running(first, "build");
  const cancel = (id: string) => fixture.gateway.call(builds.cancelBuild, { id }, admin);
  assert.equal((await cancel(third)).status, "cancelled");
  assert.equal((await cancel(first)).status, "cancelled");
  assert.equal(await faultOf(cancel(first)), "build_finished");
  await until(async () => (await jobOf(first)) === undefined, 60_000);
  assert.equal(await jobOf(third), undefined);
  fixture.release("cancel");
  await ended(three[1]?.id ?? "");
  assert.ok(fixture.ended.includes(`${first} cancelled`));
});

test("a build whose Job somebody deleted has failed", async () => {
  fixture.script({ ...success, scan: { waitWhile: "deleted" } });
  fixture.hold("deleted");
  const { id, image_ref } = await start();
  await running(id, "scan");
  await fixture.kube.remove(
    resources.jobs,
    { name: `build-${id}`, namespace },
    { propagationPolicy: "Background" },
  );
  const build = await ended(id);
  fixture.release("deleted");
  assert.deepEqual([build.status, build.error], ["failed", "the build's Job is gone; somebody deleted it"]);
  assert.equal(await whitelisted(image_ref), undefined);
});

/** Runs with one replica of these settings in place of the others. */
async function withOnly(overrides: readonly string[], work: () => Promise<void>): Promise<void> {
  const own = await fixture.start({ overrides });
  try {
    for (const replica of replicas.splice(0)) await replica.stop();
    // The gateway may not know yet who is left.
    await until(async () => (await faultOf(fixture.read("0".repeat(32)))) === "not_found", 60_000);
    await work();
  } finally {
    await own.stop();
    replicas = [await fixture.start(), await fixture.start()];
  }
}

test("a build over its deadline has failed and says so", () =>
  withOnly(["builds.build_deadline=2s"], async () => {
    fixture.script({ ...success, build: { waitWhile: "late" } });
    fixture.hold("late");
    const { status, error } = await ended((await start()).id);
    fixture.release("late");
    // Which step it reached by then depends on the machine.
    assert.match(`${status} ${error}`, /^failed .*the build exceeded its deadline/);
  }));

test("a build whose image can't be pulled has failed and says why, and its Job is gone", () =>
  withOnly(["builds.scanner=registry.test:5000/mirror/trivy:none", "builds.start_patience=1s"], async () => {
    fixture.script(success);
    const { id } = await start();
    const { status, error } = await ended(id);
    assert.match(`${status} ${error}`, /^failed scan: (ErrImagePull|ImagePullBackOff): .*mirror\/trivy:none/);
    await until(async () => (await jobOf(id)) === undefined, 60_000);
  }));

test("a build goes on where it is when the replica that leads is gone", async () => {
  fixture.script({ ...success, build: { waitWhile: "handover" } });
  fixture.hold("handover");
  const { id } = await start();
  await running(id, "build");
  for (const replica of replicas) await replica.stop();
  fixture.release("handover");
  replicas = [await fixture.start(), await fixture.start()];
  assert.equal((await ended(id)).status, "succeeded");
});

test("documents of a scan are taken once by their token, and kept with the verdict", async () => {
  fixture.script({ ...success, "scan-gate": { ...success["scan-gate"], waitWhile: "documents" } });
  fixture.hold("documents");
  const { id } = await start();
  await running(id, "scan-gate");
  const secret = await fixture.kube.get(resources.secrets, { name: `build-${id}`, namespace });
  const token = Buffer.from(secret.data?.["documents"] ?? "", "base64").toString();
  const report = gzipSync(JSON.stringify({ SchemaVersion: 2 }));
  const put = async (more: { token?: string; digest?: string } = {}) => {
    const hash = createHash("sha256").update(report).digest("base64");
    const head = { token: more.token ?? token, content_digest: more.digest ?? `sha-256=:${hash}:` };
    const { byteTransfer } = await fixture.internal.forward(builds.receiveDocument, {
      ...{ id, document: "report" as const },
      ...head,
    });
    assert.ok(byteTransfer);
    async function* body() {
      yield report;
    }
    await sendBytes(byteTransfer, body(), { contentLength: report.length });
  };
  assert.equal(await faultOf(put({ token: "f".repeat(64) })), "not_found");
  assert.equal(await faultOf(put({ digest: `sha-256=:${"A".repeat(43)}=:` })), "digest_mismatch");
  await put();
  assert.equal(await faultOf(put()), "not_found");
  fixture.release("documents");
  assert.equal((await ended(id)).status, "succeeded");
  assert.equal(await faultOf(put()), "not_found");
  const scan = await fixture.gateway.call(scans.readScan, { id }, admin);
  assert.deepEqual([scan.has_report, scan.has_sbom], [true, false]);
  const { byteTransfer } = await fixture.gateway.forward(scans.downloadReport, { id }, admin);
  assert.ok(byteTransfer);
  assert.deepEqual(JSON.parse(await textOf(byteTransfer)), { SchemaVersion: 2 });
  assert.equal(byteTransfer.headers["content-disposition"], `attachment; filename="${id}-trivy.json"`);
  const sbom = await faultOf(fixture.gateway.forward(scans.downloadSbom, { id }, admin));
  assert.equal(sbom, "scan_document_not_kept");
});

test("the log is followed live with its steps, kept after the end, and nothing for who has seen it", async () => {
  fixture.script({ ...success, build: { print: ["STEP 1", "STEP 2"], waitWhile: "log" } });
  fixture.hold("log");
  const { id } = await start();
  await running(id, "build");
  const watch = (last_event_id?: string) =>
    fixture.gateway.forward(builds.watchLog, { id, ...(last_event_id && { last_event_id }) }, admin);
  const { stream } = await watch();
  assert.ok(stream);
  const live: string[] = [];
  const reading = (async () => {
    for await (const { line, event, isLast } of fixture.gateway.readLiveLog(
      stream,
      AbortSignal.timeout(60_000),
    )) {
      live.push(shown({ line: Buffer.from(line).toString(), event }));
      if (isLast) return;
    }
  })();
  await until(() => live.includes("STEP 2"), 60_000);
  fixture.release("log");
  await ended(id);
  await reading;
  const wanted = [
    ...["step context-fetch running", "fetched 3 files", "step context-fetch succeeded"],
    ...["step build running", "STEP 1", "STEP 2", "step build succeeded"],
    ...["step scan running", "scanned", "step scan succeeded"],
    ...["step sbom running", "step sbom succeeded"],
    ...["step scan-gate running", "step scan-gate succeeded"],
    ...["step push running", "pushed", "step push succeeded"],
    "end succeeded",
  ];
  assert.deepEqual(live, wanted);
  const kept = await stored(await watch());
  assert.deepEqual(kept.map(shown), wanted);
  const from = kept.find(({ line }) => line === "pushed")?.id ?? "";
  const rest = await stored(await watch(from));
  assert.ok(rest.every(({ id: second }) => second === "end" || Number(second) >= Number(from)));
  assert.equal(rest.map(shown).at(-1), "end succeeded");
  const seen = await watch("end");
  assert.deepEqual([seen.stream, seen.byteTransfer], [undefined, undefined]);
  const of = (other: string) => faultOf(fixture.gateway.forward(builds.watchLog, { id: other }, admin));
  assert.deepEqual([await of("../etc"), await of("0".repeat(32))], ["bad_id", "not_found"]);
});

type Shown = { line: string; event?: string | undefined };

function shown({ line, event }: Shown): string {
  if (event === undefined) return line;
  const { name, state, status } = JSON.parse(line) as Record<string, string>;
  return [event, name, state, status].filter((part) => part !== undefined).join(" ");
}

async function stored({ byteTransfer }: RawReply): Promise<(Shown & { id: string })[]> {
  assert.ok(byteTransfer);
  const frames = (await textOf(byteTransfer)).split("\n\n").filter((frame) => frame !== "");
  return frames.map((frame) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(frame)?.[1];
    return { id: field("id") ?? "", event: field("event"), line: field("data") ?? "" };
  });
}

async function textOf(ticket: NonNullable<RawReply["byteTransfer"]>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of (await fetchBytes(ticket)).body) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString();
}

test("a log that floods is kept within its bound, the end of it", async () => {
  fixture.script({ ...success, build: { flood: 30_000, message: "out of words", exit: 1 } });
  const { id } = await start();
  assert.equal((await ended(id)).error, "build: out of words");
  const { gz } = await fixture.db
    .selectFrom("image_build_logs")
    .select("gz")
    .where("build_id", "=", id)
    .executeTakeFirstOrThrow();
  const text = gunzipSync(gz).toString();
  assert.ok(text.length < 6 * 1_048_576, `${text.length} bytes`);
  assert.match(text, /flood 29999 /);
  assert.doesNotMatch(text, /flood 10 /);
});

test("a failed build is repeated with the same context, and not once the submission has another", async () => {
  fixture.script({ ...success, build: { message: "no luck", exit: 1 } });
  const submission = `sub-${"a".repeat(24)}`;
  const context_sha256 = "c".repeat(64);
  const author = { submitted_by: "a", submitted_by_id: "u", display_name: "Pack" };
  const values = { id: submission, ...author, context_sha256, context_bytes: 3 };
  await fixture.db.insertInto("image_submissions").values(values).execute();
  const { id } = await start({ context_digest: context_sha256 });
  const retry = (of: string) => fixture.gateway.call(builds.retryBuild, { id: of }, admin);
  await ended(id);
  const rebuild = (of: string) => fixture.gateway.call(builds.rebuild, { id: of }, admin);
  assert.equal(await faultOf(rebuild(id)), "build_unfinished");
  const bases = [{ image_ref: "registry.test:5000/svc/base:1", digest }];
  const message = JSON.stringify({ context_digest: context_sha256, bases });
  fixture.script({ ...success, "context-fetch": { message } });
  const again = await retry(id);
  assert.deepEqual([again.retry_of, again.context_digest], [id, context_sha256]);
  const succeeded = await ended(again.id);
  assert.deepEqual([succeeded.status, succeeded.bases], ["succeeded", bases]);
  assert.equal(await faultOf(retry(again.id)), "build_unfinished");
  const rebuilt = await rebuild(again.id);
  assert.deepEqual([rebuilt.retry_of, rebuilt.context_digest], [again.id, context_sha256]);
  assert.equal(rebuilt.submission_id, undefined);
  assert.equal((await ended(rebuilt.id)).status, "succeeded");
  await fixture.db
    .updateTable("image_submissions")
    .set({ context_sha256: "d".repeat(64) })
    .execute();
  assert.equal(await faultOf(retry(id)), "context_changed");
  assert.equal(await faultOf(rebuild(again.id)), "context_changed");
});

test("the gate of a build knows what is accepted for its image", async () => {
  fixture.script(success);
  const expires_at = new Date(Date.now() + 86_400_000).toISOString();
  const about = { finding_id: "CVE-2026-1", package: "libc", reason: "not reachable", expires_at };
  const add = (repository?: string) =>
    fixture.gateway.call(acceptances.addAcceptance, { ...about, ...(repository && { repository }) }, admin);
  const all = await add();
  await add("registry.test:5000/packs/other");
  const { id } = await start();
  await ended(id);
  const gate = (await jobOf(id))?.spec?.template.spec?.initContainers?.find(
    ({ name }) => name === "scan-gate",
  );
  const task = JSON.parse(gate?.env?.[0]?.value ?? "");
  const accepted = {
    id: all.id,
    finding_id: "CVE-2026-1",
    package: "libc",
    by: "usr-admin",
    until: expires_at,
  };
  assert.deepEqual(task.policy.accepted, [accepted]);
});

const refusals: Record<string, [change: object, message: RegExp]> = {
  "another registry": [{ image_ref: "docker.io/x:1" }, /must be in the registry registry\.test:5000/],
  "a path of the platform": [{ image_ref: "registry.test:5000/svc/x:1" }, /under svc\//],
  "a digest": [{ image_ref: `registry.test:5000/x@${digest}` }, /name a tag, not a digest/],
  "a context elsewhere": [{ context_ref: "https://evil.example/context" }, /internal address/],
};
for (const [what, [change, message]] of Object.entries(refusals)) {
  test(`a request for ${what} is rejected and says what to do`, async () => {
    await assert.rejects(start(change), { fault: "bad_request", message });
  });
}

test("without a scanner nothing is built, and the setting is named", async () => {
  for (const replica of replicas) await replica.stop();
  const own = await fixture.start({ overrides: ["builds.scanner="] });
  await assert.rejects(start(), { fault: "unavailable", message: /builds\.scanner/ });
  await own.stop();
});
