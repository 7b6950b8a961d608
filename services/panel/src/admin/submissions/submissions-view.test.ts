import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { addressOf, decideReview, isSubmissionId, requestOf, submissionsViewOf } from "./submissions-view.ts";

test("whoever opens the list sees what waits for a review", () => {
  const view = submissionsViewOf({});
  assert.deepEqual(requestOf(view), { limit: 50, offset: 0, status: "pending_review" });
  assert.deepEqual(addressOf(view), {});
});

test("a view of the address becomes a request and the same address", () => {
  const address = { q: "sky", status: "all", page: 3 };
  const view = submissionsViewOf(address);
  assert.deepEqual(requestOf(view), { limit: 50, offset: 100, query: "sky" });
  assert.deepEqual(addressOf(view), address);
});

test("ids that cannot be are not asked for", () => {
  assert.ok(isSubmissionId("sub-0123"));
  for (const id of ["", "..", "a/b", "a".repeat(65)]) assert.ok(!isSubmissionId(id));
});

describe("a review", () => {
  const [one, two] = ["a".repeat(64), "b".repeat(64)];
  const cases = [
    [
      "approves the digest that was looked at",
      { status: "pending_review", context_sha256: one },
      one,
      { approve: true, reject: true, isStale: false },
    ],
    [
      "does not approve another one",
      { status: "pending_review", context_sha256: two },
      one,
      { approve: false, reject: true, isStale: true },
    ],
    [
      "does not approve what is gone",
      { status: "pending_review" },
      one,
      { approve: false, reject: true, isStale: true },
    ],
    [
      "of nothing can only reject",
      { status: "pending_review" },
      undefined,
      { approve: false, reject: true, isStale: false },
    ],
    [
      "is done once",
      { status: "approved", context_sha256: one },
      one,
      { approve: false, reject: false, isStale: false },
    ],
  ] as const;
  for (const [name, submission, reviewed, expected] of cases)
    test(name, () => assert.deepEqual(decideReview(submission, reviewed), expected));
});
