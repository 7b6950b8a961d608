import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import type { HttpBinding } from "@svc/proto";
import { operations } from "@svc/proto";
import { isCompressed, isWorthPacking, type Packable, pack, takesEncoding } from "./compression.ts";

for (const [accepted, expected] of [
  [undefined, false],
  ["", false],
  ["gzip", true],
  ["GZIP", true],
  ["br, gzip;q=0.5", true],
  ["br;q=1.0 , gzip ; q=0.001", true],
  ["gzip;q=0", false],
  ["gzip;q=0.0, *", false],
  ["*", true],
  ["*;q=0", false],
  ["*;q=0, gzip", true],
  ["br, deflate", false],
  ["gzip;q=much", false],
] as const) {
  test(`Accept-Encoding ${JSON.stringify(accepted)} ${expected ? "takes" : "does not take"} gzip`, () =>
    assert.equal(takesEncoding(accepted, "gzip"), expected));
}

const read: HttpBinding = {
  ...{ kind: "json", method: "GET", path: "/things", faces: ["external"], tier: "app", callers: [] },
  ...{ setup: false, rateLimited: false, status: 200 },
};
for (const [what, http, expected] of [
  ["a read of somebody who is signed in", read, true],
  ["a change", { ...read, method: "POST" }, false],
  ["a public operation", { ...read, tier: "public" }, false],
  ["what sets a cookie", { ...read, session: "mints" }, false],
  ["what holds secrets", { ...read, holdsSecrets: true }, false],
  ["an event stream", { ...read, kind: "events" }, false],
  ["a download", { ...read, kind: "download" }, false],
] as const) {
  test(`${what} is ${expected ? "" : "not "}compressed`, () =>
    assert.equal(isCompressed("external", http), expected));
}

test("nothing is compressed on the internal face", () => assert.equal(isCompressed("internal", read), false));

test("contents of files are not compressed", () => {
  const file = operations.find(({ subject }) => subject === "storage.file.read");
  assert.equal(file && isCompressed("external", file.http), false);
});

test("an answer is packed once, a long one on a thread", async () => {
  for (const size of [2_000, 300_000]) {
    const answer: Packable = { body: Buffer.alloc(size, "svc ") };
    assert.ok(isWorthPacking(answer));
    const first = pack(answer);
    assert.equal(pack(answer), first);
    assert.deepEqual(gunzipSync(await first), answer.body);
    assert.equal(pack(answer), await first);
  }
  assert.ok(!isWorthPacking({ body: Buffer.alloc(1_023) }));
});
