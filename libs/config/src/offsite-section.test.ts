import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { loadSettings } from "./load.ts";
import { offsiteSection } from "./offsite-section.ts";

const load = (...overrides: string[]) =>
  loadSettings(z.strictObject({ offsite: offsiteSection }), {
    overrides: overrides.map((one) => `offsite.${one}`),
  }).offsite;

test("there are no off-site copies unless a bucket is set", () => {
  assert.equal(load().bucket, "");
});

test("the defaults are those of the specification", () => {
  const { db_keep, sync_every, sync_jitter, max_age, object_deadline, min_rate, index_keep } = load();
  const minute = 60_000;
  assert.deepEqual([db_keep, sync_every, sync_jitter], [30, 60 * minute, 10 * minute]);
  assert.deepEqual([max_age, object_deadline, min_rate], [720 * minute, 10 * minute, 512 * 1_024]);
  assert.equal(index_keep, 14 * 24 * 60 * minute);
});

for (const wrong of [
  "endpoint=https://s3.example/path",
  "endpoint=ftp://s3.example",
  "endpoint=https://s3.example",
  "prefix=copies",
  "bucket=Copies",
  "access_key_ref=two words",
  "db_keep=0",
  "key_file=keys",
]) {
  test(`${wrong} is refused`, () => {
    assert.throws(() => load(wrong), { name: "ConfigError", message: /offsite/ });
  });
}

test("a path that leaves the prefix is refused", () => {
  assert.throws(() => load("bucket=copies", "prefix=a/../b"), { name: "ConfigError" });
  assert.equal(load("bucket=copies", "prefix=a/b").prefix, "a/b");
});
