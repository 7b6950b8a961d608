import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  decideStep,
  type UploadItem,
  type UploadStep,
  wholeBytes,
  withCommit,
  withFailure,
  withOperation,
  withSession,
} from "./item.ts";

const part = 32 * 1_048_576;
const base: UploadItem = {
  id: "1",
  server: "survival",
  path: "plugins/a.jar",
  kind: "file",
  size: 2 * part,
  modified: 1,
  overwrite: false,
  partMax: 0,
  received: 0,
  isSynced: true,
  wasCommitted: false,
  attempts: 0,
  state: { is: "open" },
};
const inParts = (received: number, more: Partial<UploadItem> = {}): UploadItem => ({
  ...base,
  session: "s",
  partMax: part,
  received,
  ...more,
});
const now = 1_000_000;
const refusal = (code: string, status = 409, retryAfterSeconds?: number) => ({
  code,
  status,
  message: "",
  retryAfterSeconds,
});

describe("the next step", () => {
  const cases: [string, UploadItem, UploadStep, boolean?][] = [
    ["of a folder is to make it", { ...base, kind: "folder", size: 0 }, { do: "make-folder" }, false],
    ["of a small file is to send it whole", { ...base, size: wholeBytes }, { do: "send-whole" }],
    ["of a file of zero bytes is to send it whole", { ...base, size: 0 }, { do: "send-whole" }],
    ["of a larger file is a session", { ...base, size: wholeBytes + 1 }, { do: "begin" }],
    [
      "of a session is its first part",
      inParts(0),
      { do: "send-part", session: "s", offset: 0, length: part },
    ],
    [
      "is a last part of exactly the part size",
      inParts(part),
      { do: "send-part", session: "s", offset: part, length: part },
    ],
    [
      "is a short last part",
      inParts(part, { size: part + 5 }),
      { do: "send-part", session: "s", offset: part, length: 5 },
    ],
    ["of a complete session is its commit", inParts(2 * part), { do: "commit", session: "s" }],
    [
      "after a break is to ask how far it is",
      inParts(part, { isSynced: false }),
      { do: "read-session", session: "s" },
    ],
    [
      "after a reload is to ask how far it is first",
      inParts(part, { isSynced: false }),
      { do: "read-session", session: "s" },
      false,
    ],
    ["without its bytes is to ask for the file", inParts(part), { do: "ask-for-file" }, false],
    [
      "without its bytes is the commit when all is there",
      inParts(2 * part),
      { do: "commit", session: "s" },
      false,
    ],
    ["after a commit is to watch it", inParts(2 * part, { op: "o" }), { do: "watch", op: "o" }, false],
    [
      "waits for its time",
      inParts(0, { state: { is: "retrying", at: now + 1, code: "" } }),
      { do: "wait", until: now + 1 },
    ],
    [
      "is done again when its time has come",
      inParts(0, { isSynced: false, state: { is: "retrying", at: now, code: "" } }),
      { do: "read-session", session: "s" },
    ],
    ["is none while it is in conflict", inParts(0, { state: { is: "exists" } }), { do: "nothing" }],
    [
      "is none when it failed",
      inParts(0, { state: { is: "failed", code: "", message: "" } }),
      { do: "nothing" },
    ],
    ["is none when it is done", inParts(0, { state: { is: "done" } }), { do: "nothing" }],
  ];
  for (const [name, item, expected, hasFile = true] of cases)
    test(name, () => assert.deepEqual(decideStep(item, { hasFile, now }), expected));
});

describe("a failure", () => {
  const context = { now, step: "send-part" } as const;
  const stateAfter = (item: UploadItem, ...given: Parameters<typeof refusal>) =>
    withFailure(item, refusal(...given), context).state;

  test("of the connection is retried for ever, later and later, from where the service is", () => {
    let item = inParts(part);
    const waits: number[] = [];
    for (let tries = 0; tries < 12; tries++) {
      item = withFailure(item, refusal("offline", 0), context);
      assert.ok(item.state.is === "retrying");
      waits.push((item.state.at - now) / 1_000);
    }
    assert.deepEqual(waits, [1, 2, 4, 8, 16, 30, 30, 30, 30, 30, 30, 30]);
    assert.deepEqual(decideStep(item, { hasFile: true, now: now + 60_000 }), {
      do: "read-session",
      session: "s",
    });
    item = withSession(item, { id: "s", received: part, part_max_bytes: part });
    assert.deepEqual([item.attempts, item.state.is], [0, "open"]);
  });

  test("with a time to wait is not retried before it", () => {
    const after = stateAfter(inParts(0), "rate_limited", 429, 60);
    assert.deepEqual(after, { is: "retrying", at: now + 60_000, code: "rate_limited" });
  });

  const retried = [
    ["a job holds the world", "maintenance_in_progress", 409],
    ["the server was woken", "not_stopped", 409],
    ["another tab writes it", "upload_busy", 409],
    ["four uploads are open", "too_many_uploads", 429],
    ["a service is away", "unavailable", 503],
    ["a part arrived damaged", "digest_mismatch", 400],
    ["the place differs", "upload_offset_mismatch", 409],
  ] as const;
  for (const [name, code, status] of retried)
    test(`passes when ${name}`, () => assert.equal(stateAfter(inParts(0), code, status).is, "retrying"));

  const final = [
    ["the disk is full", "volume_full", 507],
    ["the staging volume is full", "upload_staging_full", 507],
    ["the path is refused", "bad_path", 400],
    ["the right is gone", "forbidden", 403],
    ["the server is gone", "not_found", 404],
    ["the service made a mistake", "internal", 500],
  ] as const;
  for (const [name, code, status] of final)
    test(`ends it when ${name}`, () =>
      assert.deepEqual(stateAfter(inParts(0), code, status), { is: "failed", code, message: "" }));

  test("of the same kind again and again ends it where it cannot pass", () => {
    let item = inParts(0);
    for (let tries = 0; tries < 9; tries++)
      item = withFailure(item, refusal("digest_mismatch", 400), context);
    assert.equal(item.state.is, "failed");
  });

  test("in a whole file whose outcome nobody knows is not repeated unasked", () => {
    const item = { ...base, size: 1 };
    assert.equal(
      withFailure(item, refusal("files_timeout", 504), { now, step: "send-whole" }).state.is,
      "failed",
    );
  });

  test("of a session that was dropped begins anew, three times", () => {
    const once = withFailure(inParts(part), refusal("upload_not_found", 404), context);
    assert.deepEqual([once.session, once.received], [undefined, 0]);
    assert.equal(
      withFailure({ ...once, attempts: 3 }, refusal("upload_not_found", 404), context).state.is,
      "failed",
    );
  });

  test("to find the session after a commit means that the file is in the world", () => {
    const broken = withFailure(inParts(2 * part), refusal("offline", 0), { now, step: "commit" });
    const after = withFailure(broken, refusal("upload_not_found", 404), { now, step: "read-session" });
    assert.deepEqual(after.state, { is: "done" });
  });

  test("because the file exists asks the person; an existing folder is what was wanted", () => {
    assert.deepEqual(stateAfter(base, "file_exists"), { is: "exists" });
    assert.deepEqual(stateAfter({ ...base, kind: "folder" }, "file_exists"), { is: "done" });
  });
});

describe("a commit", () => {
  const committed = withCommit(inParts(2 * part), "o");

  test("is watched until it ends", () => {
    const running = withOperation(committed, { state: "running" }, now);
    assert.equal(decideStep(running, { hasFile: false, now }).do, "wait");
    assert.equal(withOperation(running, { state: "succeeded" }, now).state.is, "done");
  });

  test("that failed because the file exists keeps its session for the next commit", () => {
    const after = withOperation(
      committed,
      { state: "failed", error: { code: "file_exists", message: "" } },
      now,
    );
    assert.deepEqual([after.state, after.session, after.op], [{ is: "exists" }, "s", undefined]);
  });

  test("that failed for another reason says which", () => {
    const after = withOperation(
      committed,
      { state: "failed", error: { code: "volume_full", message: "m" } },
      now,
    );
    assert.deepEqual(after.state, { is: "failed", code: "volume_full", message: "m" });
  });

  test("that is not listed any more is looked up by its session", () => {
    const after = withOperation(committed, undefined, now);
    assert.deepEqual(decideStep(after, { hasFile: false, now }), { do: "read-session", session: "s" });
  });
});
