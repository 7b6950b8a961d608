// Every documented refusal of submissions and builds, as a browser and the staff's panel meet it: status, code, headers and a
// message that says what to do.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, test } from "node:test";
import type { submissions } from "@svc/proto";
import { contextOf, digestOf } from "../../services/builds/src/testing/submissions.ts";
import { type Ask, create, type Faces, startFaces } from "./pack-faces.ts";

const mine = "/api/v1/me/submissions";
const all = "/api/v1/submissions";
const builds = "/api/v1/images/build";
const nobody = "0".repeat(64);
const unknownBuild = "0".repeat(32);

type Refused = [what: string, method: string, path: string, about: Ask, answer: string, advice: RegExp];

async function assertRefused({ ask }: Faces, [what, method, path, about, expected, advice]: Refused) {
  const answer = await ask(method, path, about);
  const { error } = JSON.parse(answer.text) as { error: { code: string; message: string } };
  assert.equal(`${answer.status} ${error.code}`, expected, what);
  assert.match(error.message, advice, what);
  assert.match(String(answer.headers["content-type"]), /^application\/json/, what);
  return answer;
}

describe("an author is told", () => {
  let faces: Faces;
  let id: string;
  before(async () => {
    faces = await startFaces();
    id = await create(faces);
  });
  after(() => faces?.stop());
  const bytes = contextOf({ a: "1" });
  const part = (query = "?offset=0") => `${mine}/${id}/context/upload${query}`;
  const whole = () => `${mine}/${id}/context`;
  const made = (json: unknown): [string, string, Ask] => ["POST", mine, { json }];
  const digest = (value: string) => ({ bytes, headers: { "content-digest": value } });
  const gzip = { "content-type": "application/gzip" };
  const large = Buffer.alloc((1 << 20) + 1);
  const rows: (() => Refused)[] = [
    () => ["without a session", "GET", mine, { as: "nobody" }, "401 unauthorized", /sign in/],
    () => ["without a name", ...made({}), "400 bad_request", /display_name": is required/],
    () => [
      "an unknown field",
      ...made({ display_name: "P", id: "x" }),
      "400 bad_request",
      /unknown field "id"/,
    ],
    () => [
      "one letter too many",
      ...made({ display_name: "P".repeat(201) }),
      "400 bad_request",
      /1 to 200 letters/,
    ],
    () => [
      "a control character",
      ...made({ display_name: "a\u0007b" }),
      "400 bad_request",
      /1 to 200 letters/,
    ],
    () => ["a name of spaces", ...made({ display_name: "  " }), "400 bad_request", /1 to 200 letters/],
    () => ["no JSON", "POST", mine, { bytes }, "415 unsupported_media_type", /application\/json/],
    () => ["an unknown status", "GET", `${mine}?status=odd`, {}, "400 bad_request", /"status"/],
    () => ["a page too long", "GET", `${mine}?limit=101`, {}, "400 bad_request", /"limit"/],
    () => ["a part without a digest", "PUT", part(), digest(""), "400 digest_required", /Content-Digest/],
    () => ["a malformed digest", "PUT", part(), digest("sha-256=:x:"), "400 bad_digest", /BASE64/],
    () => [
      "another digest",
      "PUT",
      part(),
      digest(digestOf(large)),
      "400 digest_mismatch",
      /send them again/,
    ],
    () =>
      [
        ...["a part of another type", "PUT", part(), { bytes, headers: { "content-type": "text/plain" } }],
        ...["415 unsupported_media_type", /application\/octet-stream/],
      ] as Refused,
    () => ["no offset", "PUT", part(""), { bytes }, "400 bad_request", /"offset"/],
    () => ["a negative offset", "PUT", part("?offset=-1"), { bytes }, "400 bad_request", /"offset"/],
    () => [
      "a later offset",
      "PUT",
      part("?offset=7"),
      { bytes },
      "409 upload_offset_mismatch",
      /starts at 0/,
    ],
    () => [
      "an empty part",
      "PUT",
      part(),
      { bytes: Buffer.alloc(0) },
      "400 bad_request",
      /at least one byte/,
    ],
    () => [
      "no gzip and no zip",
      "PUT",
      part(),
      { bytes: Buffer.from("XX") },
      "400 bad_request",
      /gzip tarball/,
    ],
    () => [
      "a context a byte too large in parts",
      "PUT",
      part(),
      { bytes: large },
      "400 bad_request",
      /1048576 bytes/,
    ],
    () =>
      [
        ...[
          "a part of 32 MiB and a byte",
          "PUT",
          part(),
          { bytes, headers: { "content-length": "33554433" } },
        ],
        ...["413 part_too_large", /33554432/],
      ] as Refused,
    () => ["nothing to complete", "POST", part("/complete"), {}, "400 bad_request", /send the parts first/],
    () => [
      "a context a byte too large",
      "POST",
      whole(),
      { bytes: large, headers: gzip },
      "400 bad_request",
      /1048576/,
    ],
    () => [
      "a context of another type",
      "POST",
      whole(),
      { bytes },
      "415 unsupported_media_type",
      /application\/gzip/,
    ],
    () => [
      "somebody else's upload",
      "GET",
      part(""),
      { as: "bob" },
      "404 not_found",
      /You have no submission/,
    ],
    () => [
      "somebody else's part",
      "PUT",
      part(),
      { as: "bob", bytes },
      "404 not_found",
      /You have no submission/,
    ],
    () => [
      "somebody else's submission",
      "DELETE",
      `${mine}/${id}`,
      { as: "bob" },
      "404 not_found",
      /You have no/,
    ],
    () => ["the staff's list", "GET", all, {}, "403 forbidden", /not allowed/],
    () => [
      "a review of one's own",
      "POST",
      `${all}/${id}/approve`,
      { json: { expected_digest: nobody } },
      "403 forbidden",
      /not allowed/,
    ],
    () => ["the context that staff read", "GET", `${all}/${id}/context`, {}, "403 forbidden", /not allowed/],
    () => ["a build", "POST", builds, { json: {} }, "403 forbidden", /not allowed/],
  ];
  test("by status, code and message what is wrong and what to do", async () => {
    for (const row of rows) await assertRefused(faces, row());
    const staged = JSON.parse((await faces.ask("GET", part(""))).text) as submissions.ContextUploadProgress;
    assert.equal(staged.received, 0, "nothing of all this was kept");
  });
  test("how far an upload came, by any face and replica, and goes on there", async () => {
    const big = contextOf({ "world/r.mca": randomBytes(200_000) });
    let received = 0;
    for (let parts = 0; received < big.length; parts += 1) {
      const bytes = big.subarray(received, received + 30_000);
      const put = await faces.ask("PUT", part(`?offset=${received}`), { bytes });
      assert.equal(put.status, 200, put.text);
      const now = JSON.parse((await faces.ask("GET", part(""))).text) as submissions.ContextUploadProgress;
      received += bytes.length;
      assert.deepEqual(now, { received, part_max_bytes: 32 << 20, max_context_bytes: 1 << 20 });
      assert.ok(parts < 20);
    }
    const [first, second] = [
      await faces.ask("POST", part("/complete")),
      await faces.ask("POST", part("/complete")),
    ];
    assert.deepEqual([first.status, second.status, second.text], [200, 200, first.text]);
  });
  test("that what was reviewed takes no more bytes", async () => {
    await faces.fixture.reject(id);
    const reviewed = /no longer pending/;
    await assertRefused(faces, ["a part", "PUT", part(), { bytes }, "409 already_reviewed", reviewed]);
    await assertRefused(faces, ["complete", "POST", part("/complete"), {}, "409 already_reviewed", reviewed]);
    await assertRefused(faces, ["withdraw", "DELETE", `${mine}/${id}`, {}, "409 already_reviewed", reviewed]);
  });
});

describe("staff are told", () => {
  let faces: Faces;
  let [empty, full, build] = ["", "", ""];
  before(async () => {
    faces = await startFaces();
    [empty, full] = [await create(faces), await create(faces)];
    const bytes = contextOf({ a: "1" });
    const headers = { "content-type": "application/gzip" };
    const sent = await faces.ask("POST", `${mine}/${full}/context`, { bytes, headers });
    assert.equal(sent.status, 200, sent.text);
    const started = await faces.ask("POST", builds, { as: "amelia", json: request() });
    assert.equal(started.status, 202, started.text);
    build = (JSON.parse(started.text) as { id: string }).id;
  });
  after(() => faces?.stop());
  const request = (more: object = {}) => ({
    image_ref: "127.0.0.1:5000/packs/a:1",
    dockerfile: "FROM scratch",
    context_ref: `http://127.0.0.1:8081/api/v1/internal/submissions/${empty}/context`,
    ...more,
  });
  const as = "amelia" as const;
  const review = (id: string, what: string, json: unknown): [string, string, Ask] => [
    "POST",
    `${all}/${id}/${what}`,
    { as, json },
  ];
  const of = (path: string): [string, string, Ask] => ["GET", `${builds}/${path}`, { as }];
  const bad = (more: object): [string, string, Ask] => ["POST", builds, { as, json: request(more) }];
  const rows: (() => Refused)[] = [
    () => [
      "an approval of nothing",
      ...review(empty, "approve", { expected_digest: nobody }),
      "409 context_changed",
      /review it again/,
    ],
    () => [
      "an approval of other bytes",
      ...review(full, "approve", { expected_digest: nobody }),
      "409 context_changed",
      /review it again/,
    ],
    () => [
      "no digest",
      ...review(full, "approve", { expected_digest: "X" }),
      "400 bad_request",
      /64 lower-case hex/,
    ],
    () => [
      "an unknown submission",
      ...review("sub-x", "approve", { expected_digest: nobody }),
      "404 not_found",
      /no submission/,
    ],
    () => ["no reason", ...review(full, "reject", {}), "400 bad_request", /"reason": is required/],
    () => ["an empty reason", ...review(full, "reject", { reason: " " }), "400 bad_request", /1 to 1000/],
    () => [
      "a reason too long",
      ...review(full, "reject", { reason: "x".repeat(1_001) }),
      "400 bad_request",
      /1 to 1000/,
    ],
    () => [
      "another field",
      ...review(full, "reject", { reason: "x", id: 1 }),
      "400 bad_request",
      /unknown field "id"/,
    ],
    () => ["no context", "GET", `${all}/${empty}/context`, { as }, "404 not_found", /has no context/],
    () => ["no entries", "GET", `${all}/${empty}/context/entries`, { as }, "404 not_found", /has no context/],
    () => [
      "no such file",
      "GET",
      `${all}/${full}/context/file?path=b`,
      { as },
      "404 not_found",
      /no file of this path/,
    ],
    () => ["nothing to delete", "DELETE", `${all}/sub-x`, { as }, "404 not_found", /no submission/],
    () => [
      "another registry",
      ...bad({ image_ref: "docker.io/a:1" }),
      "400 bad_request",
      /in the registry 127/,
    ],
    () => [
      "the platform's path",
      ...bad({ image_ref: "127.0.0.1:5000/svc/a:1" }),
      "400 bad_request",
      /another path/,
    ],
    () => ["no tag", ...bad({ image_ref: "127.0.0.1:5000/a" }), "400 bad_request", /name a tag/],
    () => [
      "a foreign context",
      ...bad({ context_ref: "http://127.0.0.1:1/x" }),
      "400 bad_request",
      /internal address/,
    ],
    () => ["a bucket's context", ...bad({ context_ref: "s3://x" }), "400 bad_request", /internal address/],
    () => ["a malformed digest", ...bad({ context_digest: "x" }), "400 bad_request", /64 lower-case hex/],
    () => ["an unknown field", ...bad({ extra: 1 }), "400 bad_request", /unknown field "extra"/],
    () => [
      "a build that runs",
      "POST",
      `${builds}/${build}/retry`,
      { as },
      "409 build_unfinished",
      /failed or was cancelled/,
    ],
    () => ["no scan", ...of(`${build}/scan`), "404 scan_not_found", /no stored scan/],
    () => ["no report", ...of(`${build}/scan/report`), "404 scan_not_found", /no stored scan/],
    () => ["no provenance", ...of(`${build}/provenance`), "404 provenance_not_found", /no provenance/],
    () => ["no SBOM", ...of(`${build}/sbom`), "404 scan_not_found", /no stored scan/],
    () => ["an unknown build", ...of(unknownBuild), "404 not_found", /no build/],
    () => ["a malformed id", ...of("x/logs"), "400 bad_id", /not valid/],
    () => ["a log of nothing", ...of(`${unknownBuild}/logs`), "404 not_found", /no build/],
  ];
  test("by status, code and message what is wrong and what to do", async () => {
    for (const row of rows) await assertRefused(faces, row());
  });
  test("that a build has ended, or that its context is gone", async () => {
    const cancel: [string, string, Ask] = ["POST", `${builds}/${build}/cancel`, { as }];
    assert.equal((await faces.ask(...cancel)).status, 200);
    await assertRefused(faces, ["cancelled twice", ...cancel, "409 build_finished", /already ended/]);
    const retry: Refused = [
      "without a context",
      "POST",
      `${builds}/${build}/retry`,
      { as },
      "409 context_changed",
      /review it again/,
    ];
    await assertRefused(faces, retry);
  });
  test("that a submission was reviewed already", async () => {
    const reject = review(full, "reject", { reason: "Copied." });
    assert.equal((await faces.ask(...reject)).status, 200);
    for (const again of [reject, review(full, "approve", { expected_digest: nobody })])
      await assertRefused(faces, ["reviewed twice", ...again, "409 already_reviewed", /no longer pending/]);
  });
});

describe("limits are told with the time or the room that is left", () => {
  const create = (name: string): [string, string, Ask] => ["POST", mine, { json: { display_name: name } }];
  const refusals: Record<string, [overrides: string[], answer: string, advice: RegExp]> = {
    "too many in review": [["builds.submissions_pending=1"], "403 submission_quota_exceeded", /withdraw one/],
    "too soon": [["builds.submission_cooldown=1h"], "429 submission_cooldown", /Wait/],
  };
  for (const [what, [overrides, answer, advice]] of Object.entries(refusals))
    test(what, async () => {
      const faces = await startFaces(overrides);
      try {
        assert.equal((await faces.ask(...create("One"))).status, 201);
        const { headers } = await assertRefused(faces, [what, ...create("Two"), answer, advice]);
        const seconds = Number(headers["retry-after"] ?? 0);
        assert.equal(seconds > 3_000 && seconds <= 3_600, answer.startsWith("429"));
      } finally {
        await faces.stop();
      }
    });
  test("no room for anybody, and no store", async () => {
    const full = await startFaces(['registry.user_uploads_max_bytes="0"']);
    await assertRefused(full, ["full", ...create("One"), "507 uploads_full", /full/]);
    await full.stop();
    const unset = await startFaces(["registry.user_uploads_context=ftp://x"]);
    const about = ["503 uploads_store_unavailable", /folder or a bucket/] as const;
    const { headers } = await assertRefused(unset, ["no store", ...create("One"), ...about]);
    assert.ok(Number(headers["retry-after"]) > 0);
    assert.equal((await unset.ask("GET", mine)).status, 200);
    await unset.stop();
  });
});
