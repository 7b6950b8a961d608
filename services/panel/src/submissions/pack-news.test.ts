import assert from "node:assert/strict";
import { test } from "node:test";
import { newsOf } from "./pack-news.ts";

const now = Date.parse("2026-11-24T00:00:00Z");
const pack = (more: object) => ({
  ...{ id: "sub-1", display_name: "Cliffs", status: "approved" as const },
  reviewed_at: "2026-11-23T00:00:00Z",
  ...more,
});
const kindsOf = (packs: Parameters<typeof newsOf>[0], seen: string[] = []) =>
  newsOf(packs, new Set(seen), now).map(({ kind }) => kind);

test("an author reads of the review and of the end of the build, each until it was seen", () => {
  assert.deepEqual(kindsOf([pack({})]), ["approved"]);
  assert.deepEqual(kindsOf([pack({ build_status: "building" })], ["sub-1 approved"]), []);
  assert.deepEqual(kindsOf([pack({ build_status: "succeeded" })], ["sub-1 approved"]), ["ready"]);
  assert.deepEqual(kindsOf([pack({ build_status: "failed" })]), ["buildFailed"]);
  assert.deepEqual(kindsOf([pack({ status: "rejected" })]), ["rejected"]);
});

test("a pack that waits, a build that was cancelled and what is two weeks old are no news", () => {
  assert.deepEqual(kindsOf([pack({ status: "pending_review", reviewed_at: undefined })]), []);
  assert.deepEqual(kindsOf([pack({ build_status: "cancelled" })]), []);
  assert.deepEqual(kindsOf([pack({ reviewed_at: "2026-11-10T00:00:00Z" })]), []);
});

test("at most three are shown", () => {
  const many = Array.from({ length: 9 }, (_, n) => pack({ id: `sub-${n}` }));
  assert.equal(kindsOf(many).length, 3);
});
