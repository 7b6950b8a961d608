import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, before, describe, test } from "node:test";
import { fetchBytes, sendBytes } from "@svc/mesh";
import { faultOf, retryAfterOf, until } from "@svc/mesh/testing";
import { offsiteBuilds, submissions } from "@svc/proto";
import { sql } from "kysely";
import { admin } from "../testing/fixture.ts";
import {
  author,
  contextOf,
  digestOf,
  type SubmissionFixture,
  sha256Of,
  startSubmissionFixture,
  stranger,
} from "../testing/submissions.ts";

let fixture: SubmissionFixture;
before(async () => {
  fixture = await startSubmissionFixture(["registry.context_max_bytes=1Mi"]);
  // Two replicas answer.
  await fixture.start(["registry.context_max_bytes=1Mi"]);
});
after(() => fixture?.stop());

const filesOf = (id: string) => {
  try {
    return readdirSync(join(fixture.folder, id));
  } catch {
    return [];
  }
};

/** Random bytes, so that the archive is about as long. */
const largeContext = (bytes: number) => contextOf({ "world/r.mca": randomBytes(bytes) });

describe("an upload in parts", () => {
  test("it continues where it ended and becomes the context once it is complete", async () => {
    const { id } = await fixture.create();
    const whole = largeContext(300_000);
    assert.equal((await fixture.progress(id)).received, 0);
    const cuts = [0, 1, 100_000, whole.length];
    for (const [index, from] of cuts.slice(0, -1).entries()) {
      const progress = await fixture.putPart({ id, offset: from }, whole.subarray(from, cuts[index + 1]));
      assert.deepEqual(progress, {
        received: cuts[index + 1],
        part_max_bytes: 32 << 20,
        max_context_bytes: 1 << 20,
      });
    }
    const done = await fixture.complete(id);
    assert.equal(done.context_sha256, sha256Of(whole));
    assert.equal(done.context_bytes, whole.length);
    assert.equal((await fixture.progress(id)).received, 0);
    assert.deepEqual(await fixture.complete(id), done, "a repeat has the answer of the first");
    const { bytes, headers } = await fixture.download(id);
    assert.equal(sha256Of(bytes), sha256Of(whole));
    assert.equal(headers["X-Svc-Context-Sha256"], sha256Of(whole));
    assert.equal(headers["Content-Disposition"], `attachment; filename="${id}.tar.gz"`);
    await until(() =>
      fixture.audits.some((one) => one.action === "submission.upload" && one.payload["id"] === id),
    );
  });
  test("a part with another digest, or that breaks off, is not kept", async () => {
    const { id } = await fixture.create();
    const whole = largeContext(50_000);
    await fixture.putPart({ id, offset: 0 }, whole.subarray(0, 20_000));
    const rest = whole.subarray(20_000);
    assert.equal(
      await faultOf(fixture.putPart({ id, offset: 20_000 }, rest, { digest: digestOf(whole) })),
      "digest_mismatch",
    );
    const broken = async function* () {
      yield Buffer.from(rest.subarray(0, 10_000));
      throw new Error("the sender is gone");
    };
    await assert.rejects(fixture.putPart({ id, offset: 20_000 }, rest, { body: broken() }));
    assert.equal((await fixture.progress(id)).received, 20_000);
    // The replica may not know yet that its sender is gone.
    await until(async () => (await faultOf(fixture.putPart({ id, offset: 20_000 }, rest))) === "none");
    assert.equal((await fixture.complete(id)).context_sha256, sha256Of(whole));
    assert.equal(filesOf(id).length, 3);
  });
  test("another offset is refused with the right one, offset 0 begins again", async () => {
    const { id } = await fixture.create();
    const whole = largeContext(1_000);
    await fixture.putPart({ id, offset: 0 }, whole.subarray(0, 500));
    await assert.rejects(fixture.putPart({ id, offset: 400 }, whole.subarray(400)), {
      fault: "upload_offset_mismatch",
      message: /starts at 500/,
    });
    assert.equal((await fixture.putPart({ id, offset: 0 }, whole)).received, whole.length);
    assert.equal((await fixture.complete(id)).context_sha256, sha256Of(whole));
  });
  test("what can't be a part is refused before it is read", async () => {
    const { id } = await fixture.create();
    const bytes = Buffer.from([0x1f, 0x8b, 8]);
    const put = (offset: number, about: { length?: number; digest?: string } = {}) =>
      faultOf(fixture.putPart({ id, offset }, bytes, about));
    assert.equal(await put(0, { digest: "" }), "digest_required");
    assert.equal(await put(0, { digest: "sha-256=:x:" }), "bad_digest");
    assert.equal(await put(0, { length: 0 }), "bad_request");
    assert.equal(await put(0, { length: (32 << 20) + 1 }), "part_too_large");
    assert.equal(await put(0, { length: (1 << 20) + 1 }), "bad_request");
    assert.equal(await put(1 << 20), "bad_request");
    assert.equal(await put(7), "upload_offset_mismatch");
    assert.equal(await faultOf(fixture.putPart({ id, offset: 0 }, Buffer.from("Rar!"))), "bad_request");
    assert.equal(await faultOf(fixture.complete(id)), "bad_request");
    assert.deepEqual(filesOf(id), []);
  });
  test("of writers at once, on any replica, one writes and the others are told", async () => {
    const { id } = await fixture.create();
    const whole = largeContext(10_000);
    const gate = Promise.withResolvers<void>();
    const slow = async function* () {
      yield Buffer.from(whole.subarray(0, 5_000));
      await gate.promise;
      yield Buffer.from(whole.subarray(5_000));
    };
    const first = fixture.putPart({ id, offset: 0 }, whole, { body: slow() });
    await until(() => filesOf(id).length > 0);
    const others = await Promise.all(
      Array.from({ length: 4 }, () => faultOf(fixture.putPart({ id, offset: 0 }, whole))),
    );
    assert.deepEqual(
      others,
      Array.from({ length: 4 }, () => "upload_busy"),
    );
    assert.equal(await faultOf(fixture.complete(id)), "upload_busy");
    gate.resolve();
    assert.equal((await first).received, whole.length);
  });
  test("one that is withdrawn while it arrives is not found, and its bytes are dropped", async () => {
    const { id } = await fixture.create();
    const whole = largeContext(10_000);
    const gate = Promise.withResolvers<void>();
    const slow = async function* () {
      yield Buffer.from(whole.subarray(0, 5_000));
      await gate.promise;
      yield Buffer.from(whole.subarray(5_000));
    };
    const sending = faultOf(fixture.putPart({ id, offset: 0 }, whole, { body: slow() }));
    await until(() => filesOf(id).length > 0);
    await fixture.gateway.call(submissions.withdraw, { id }, author);
    gate.resolve();
    assert.ok(["not_found", "upload_busy"].includes(await sending));
    await until(() => filesOf(id).length === 0);
  });
});

describe("an upload in one request", () => {
  test("it replaces the earlier context, which stays while another is refused", async () => {
    const first = contextOf({ a: "1" });
    const { id } = await fixture.submit(first);
    const hostile = contextOf({}, [{ path: "../out", content: "x" }]);
    await assert.rejects(fixture.upload(id, hostile), { fault: "bad_request", message: /\.\.\/out.*go up/ });
    assert.equal(sha256Of((await fixture.download(id)).bytes), sha256Of(first));
    assert.equal((await fixture.progress(id)).received, 0);
    const second = contextOf({ a: "2" });
    assert.equal((await fixture.upload(id, second)).context_sha256, sha256Of(second));
    assert.equal(filesOf(id).length, 2);
  });
  test("one byte more than a context may have is refused unread", async () => {
    const { id } = await fixture.create();
    const bytes = contextOf({});
    assert.equal(await faultOf(fixture.upload(id, bytes, { length: (1 << 20) + 1 })), "bad_request");
    assert.equal(
      await faultOf(fixture.upload(id, bytes, { digest: digestOf(Buffer.from("x")) })),
      "digest_mismatch",
    );
    assert.deepEqual(filesOf(id), []);
  });
  const hostile: Record<string, Buffer> = {
    "no gzip": Buffer.from("PK\u0003\u0004"),
    "a gzip of no tar": Buffer.concat([contextOf({}).subarray(0, 20)]),
    "a link out": contextOf({}, [{ path: "l", type: "2", link: "/etc/shadow" }]),
    "a link with twins": contextOf({ a: "1" }, [{ path: "a", type: "2", link: "b" }]),
    "an absolute name": contextOf({}, [{ path: "/etc/cron.d/x", content: "x" }]),
    "a name with control characters": contextOf({ "a\u001b]0;x\u0007": "x" }),
  };
  for (const [what, bytes] of Object.entries(hostile)) {
    test(`${what} is refused, in one request and in parts, and nothing of it is kept as a context`, async () => {
      const { id } = await fixture.create();
      assert.equal(await faultOf(fixture.upload(id, bytes)), "bad_request");
      assert.deepEqual(filesOf(id), []);
      if (what === "no gzip") return;
      await fixture.putPart({ id, offset: 0 }, bytes);
      assert.equal(await faultOf(fixture.complete(id)), "bad_request");
      assert.equal((await fixture.progress(id)).received, bytes.length);
      assert.equal((await fixture.find(id))?.context_sha256, undefined);
    });
  }
});

describe("whose it is", () => {
  test("a stranger's id is not found anywhere, and nobody signed in may write for a caller", async () => {
    const { id } = await fixture.submit(contextOf({}));
    const { gateway } = fixture;
    const bytes = contextOf({});
    assert.equal(await faultOf(gateway.call(submissions.readContextUpload, { id }, stranger)), "not_found");
    assert.equal(await faultOf(fixture.putPart({ id, offset: 0 }, bytes, { as: stranger })), "not_found");
    assert.equal(await faultOf(fixture.upload(id, bytes, { as: stranger })), "not_found");
    assert.equal(await faultOf(fixture.complete(id, stranger)), "not_found");
    assert.equal(await faultOf(gateway.call(submissions.withdraw, { id }, stranger)), "not_found");
    assert.equal(await faultOf(gateway.call(submissions.readOwn, { id }, stranger)), "not_found");
    assert.equal(await faultOf(gateway.call(submissions.read, { id: "sub-x" }, admin)), "not_found");
    const own = await gateway.call(submissions.readOwn, { id }, author);
    assert.deepEqual(own, await fixture.find(id));
    assert.deepEqual(await gateway.call(submissions.read, { id }, admin), own);
    const page = await gateway.call(submissions.listOwn, { limit: 20, offset: 0 }, stranger);
    assert.deepEqual([page.total, page.submissions.length], [0, 0]);
    assert.ok(await fixture.find(id));
  });
  test("what was reviewed takes no more bytes", async () => {
    const { id } = await fixture.submit(contextOf({}));
    await fixture.reject(id);
    const bytes = contextOf({});
    assert.equal(await faultOf(fixture.progress(id)), "already_reviewed");
    assert.equal(await faultOf(fixture.putPart({ id, offset: 0 }, bytes)), "already_reviewed");
    assert.equal(await faultOf(fixture.upload(id, bytes)), "already_reviewed");
    assert.equal(await faultOf(fixture.complete(id)), "already_reviewed");
    assert.equal(
      await faultOf(fixture.gateway.call(submissions.withdraw, { id }, author)),
      "already_reviewed",
    );
  });
});

describe("bytes that no longer match", () => {
  test("the download is cut short before its end", async () => {
    const { id } = await fixture.submit(largeContext(200_000));
    const part = filesOf(id).find((name) => name.startsWith("part-")) ?? "";
    writeFileSync(join(fixture.folder, id, part), Buffer.alloc(300_000, 1));
    await assert.rejects(fixture.download(id));
  });
  test("a submission without a context has none to download", async () => {
    const { id } = await fixture.create();
    assert.equal(await faultOf(fixture.download(id)), "not_found");
    assert.equal(await faultOf(fixture.download("sub-x")), "not_found");
  });
});

describe("limits", () => {
  let tight: SubmissionFixture;
  before(async () => {
    tight = await startSubmissionFixture([
      "builds.submissions_pending=2",
      "builds.submission_account_bytes=30k",
      "registry.user_uploads_max_bytes=45k",
    ]);
  });
  after(() => tight?.stop());

  test("two pending submissions are all, also for requests at once; a withdrawn one frees its place", async () => {
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => faultOf(tight.create())));
    assert.deepEqual(outcomes.sort(), ["none", "none", ...Array(3).fill("submission_quota_exceeded")]);
    const { submissions: mine } = await tight.gateway.call(
      submissions.listOwn,
      { limit: 20, offset: 0 },
      author,
    );
    for (const { id } of mine) await tight.gateway.call(submissions.withdraw, { id }, author);
  });
  test("staged, stored and rejected bytes count, approved ones do not", async () => {
    const context = largeContext(14_000);
    const [first, second] = [await tight.submit(context), await tight.create()];
    await tight.putPart({ id: second.id, offset: 0 }, context);
    const third = context.subarray(0, 10_000);
    assert.equal(
      await faultOf(tight.putPart({ id: second.id, offset: context.length }, third)),
      "submission_quota_exceeded",
    );
    await tight.reject(first.id);
    assert.equal(
      await faultOf(tight.putPart({ id: second.id, offset: context.length }, third)),
      "submission_quota_exceeded",
    );
    const done = await tight.complete(second.id);
    await tight.approve(second.id, done.context_sha256 ?? "");
    const fourth = await tight.submit(context);
    assert.equal(fourth.status, "pending_review");
  });
  test("what all accounts have is limited as a whole", async () => {
    const context = largeContext(14_000);
    const theirs = await tight.create("Other", stranger);
    await tight.upload(theirs.id, context, { as: stranger });
    const more = await tight.create("Third", { ...stranger });
    assert.equal(await faultOf(tight.upload(more.id, context, { as: stranger })), "uploads_full");
  });
});

describe("cooldowns", () => {
  let cooled: SubmissionFixture;
  before(async () => {
    cooled = await startSubmissionFixture(["builds.submission_cooldown=1h", "builds.upload_cooldown=1h"]);
    await cooled.start(["builds.submission_cooldown=1h", "builds.upload_cooldown=1h"]);
  });
  after(() => cooled?.stop());

  test("only successes start them, all replicas share them, and each says how long it lasts", async () => {
    assert.equal(await faultOf(cooled.create("<bad>")), "bad_request");
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => faultOf(cooled.create())));
    assert.deepEqual(outcomes.sort(), ["none", ...Array(5).fill("submission_cooldown")]);
    const seconds = (await retryAfterOf(cooled.create())) ?? 0;
    assert.ok(seconds > 3_500 && seconds <= 3_600, `${seconds}`);
    assert.equal(await faultOf(cooled.create("Other", stranger)), "none");
    const { submissions: mine } = await cooled.gateway.call(
      submissions.listOwn,
      { limit: 20, offset: 0 },
      author,
    );
    const id = mine[0]?.id ?? "";
    assert.equal(
      await faultOf(cooled.upload(id, contextOf({}, [{ path: "/x", content: "" }]))),
      "bad_request",
    );
    assert.equal(await faultOf(cooled.upload(id, contextOf({}))), "none");
    assert.equal(await faultOf(cooled.upload(id, contextOf({}))), "submission_cooldown");
    await cooled.putPart({ id, offset: 0 }, contextOf({}));
    assert.equal(await faultOf(cooled.complete(id)), "submission_cooldown");
  });
  test("a withdrawal does not end them", async () => {
    const { submissions: mine } = await cooled.gateway.call(
      submissions.listOwn,
      { limit: 20, offset: 0 },
      author,
    );
    await cooled.gateway.call(submissions.withdraw, { id: mine[0]?.id ?? "" }, author);
    assert.equal(await faultOf(cooled.create()), "submission_cooldown");
  });
});

test("without a folder for contexts uploads are unavailable, lists go on", async () => {
  const unset = await startSubmissionFixture(["registry.user_uploads_context=ftp://x"]);
  try {
    assert.equal(await faultOf(unset.create()), "uploads_store_unavailable");
    assert.equal((await unset.gateway.call(submissions.list, { limit: 20, offset: 0 }, admin)).total, 0);
  } finally {
    await unset.stop();
  }
});

test("metrics show what waits for review and for how long, on every replica", async () => {
  const sum = async (series: string) => (await fixture.metric(series)).reduce((all, one) => all + one, 0);
  const received = await sum("svc_submission_upload_bytes_total");
  const context = contextOf({ a: "1" });
  const { id } = await fixture.submit(context);
  assert.equal(await sum("svc_submission_upload_bytes_total"), received + context.length);
  const twoDays = 2 * 86_400;
  await fixture.db
    .updateTable("image_submissions")
    .set({ uploaded_at: sql<Date>`now() - interval '2 days'` })
    .where("id", "=", id)
    .execute();
  const shown = async (series: string, isRight: (value: number) => boolean) =>
    until(async () => (await fixture.metric(series)).every(isRight), 20_000, series);
  await shown("svc_submission_oldest_wait_seconds", (seconds) => seconds >= twoDays);
  await shown('svc_submissions{status="pending_review"}', (count) => count > 0);
  await shown("svc_submission_context_bytes", (bytes) => bytes >= context.length);
  await fixture.reject(id);
  await shown("svc_submission_oldest_wait_seconds", (seconds) => seconds < twoDays);
  await shown('svc_submissions{status="rejected"}', (count) => count > 0);
  assert.ok((await sum('svc_submission_review_wait_seconds_sum{result="rejected"}')) >= twoDays);
});

describe("off-site copies of contexts", () => {
  const listed = async (id: string) =>
    (await fixture.operator.call(offsiteBuilds.listContexts, {})).items.find((one) => one.id === id);
  const give = async (id: string, bytes: Buffer) => {
    const { byteTransfer } = await fixture.operator.forward(offsiteBuilds.writeContext, { id });
    assert.ok(byteTransfer);
    await sendBytes(byteTransfer, Readable.from([bytes]), { contentLength: bytes.length });
  };

  test("are made of the bytes of the submission, which come back where its files are gone", async () => {
    const bytes = largeContext(200_000);
    const { id } = await fixture.submit(bytes);
    const about = { id, size_bytes: bytes.length, sha256: sha256Of(bytes) };
    assert.deepEqual(await listed(id), { ...about, local: "whole" });
    const { byteTransfer } = await fixture.operator.forward(offsiteBuilds.readContext, { id });
    assert.ok(byteTransfer);
    assert.ok(Buffer.concat(await (await fetchBytes(byteTransfer)).body.toArray()).equals(bytes));
    const [part = ""] = filesOf(id).filter((name) => name.startsWith("part-"));
    writeFileSync(join(fixture.folder, id, part), "cut");
    assert.equal((await listed(id))?.local, "missing");
    assert.equal(await faultOf(give(id, largeContext(200_000).subarray(0, bytes.length))), "digest_mismatch");
    await give(id, bytes);
    assert.deepEqual(await listed(id), { ...about, local: "whole" });
    assert.ok((await fixture.download(id)).bytes.equals(bytes));
    assert.equal(filesOf(id).length, 2, "what was damaged is gone");
    const page = { id, limit: 100, offset: 0 };
    const entries = await fixture.gateway.call(submissions.listContextEntries, page, admin);
    assert.ok(JSON.stringify(entries).includes("world"));
  });
});
