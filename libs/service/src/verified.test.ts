import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { type ExpectedBytes, type Mismatch, verified } from "./verified.ts";

const whole = "one two three";
const hex = (name: string) => createHash(name).update(whole).digest("hex");
const exact = { size: whole.length, sha256: hex("sha256") };

class Failure extends Error {
  readonly found: Mismatch;

  constructor(found: Mismatch) {
    super(found.problem);
    this.found = found;
  }
}

/** What was passed on of these chunks, and why no more was. */
async function pass(
  chunks: readonly string[],
  expected: ExpectedBytes,
): Promise<{ text: string } & Partial<Mismatch>> {
  async function* source() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  let text = "";
  try {
    for await (const chunk of verified(source(), expected, (found) => new Failure(found))) text += chunk;
  } catch (error) {
    assert.ok(error instanceof Failure);
    return { text, ...error.found };
  }
  return { text };
}

const all = ["sha512", "sha256", "sha1"].map((name) => [name, hex(name)]);
const right: [fact: string, chunks: string[], expected: ExpectedBytes][] = [
  ["all digests", ["one ", "two", "", " three"], { size: whole.length, ...Object.fromEntries(all) }],
  ["a digest and no size", ["one ", "two three"], { sha1: hex("sha1"), mostBytes: whole.length }],
  ["a size and no digest", [whole], { size: whole.length }],
];
for (const [fact, chunks, expected] of right)
  test(`expected bytes are passed on: ${fact}`, async () => {
    assert.deepEqual(await pass(chunks, expected), { text: whole });
  });

test("no bytes at all can be the expected ones", async () => {
  const sha256 = createHash("sha256").digest("hex");
  for (const expected of [{ size: 0, sha256 }, { sha256 }])
    assert.deepEqual(await pass([], expected), { text: "" });
  for (const expected of [{ size: 0, sha256: exact.sha256 }, { sha256: exact.sha256 }])
    assert.equal((await pass([""], expected)).why, "digest");
});

const otherDigest = createHash("sha256").update("one two threw").digest("hex");
const wrong: [fact: string, chunks: string[], expected: ExpectedBytes, Mismatch & { text: string }][] = [
  [
    "a byte too many, with none of its chunk",
    ["one ", "two three!"],
    exact,
    { text: "one ", why: "length", problem: "it has more than 13 bytes" },
  ],
  [
    "a byte after the last one",
    [whole, "!"],
    exact,
    { text: whole, why: "length", problem: "it has more than 13 bytes" },
  ],
  [
    "a byte too few",
    ["one ", "two thre"],
    exact,
    { text: "one two thre", why: "length", problem: "it has 12 bytes, not 13" },
  ],
  [
    "another digest, without the last chunk",
    ["one ", "two threw"],
    exact,
    { text: "one ", why: "digest", problem: `its SHA-256 is ${otherDigest}, not ${exact.sha256}` },
  ],
  [
    "one of two digests",
    [whole],
    { ...exact, sha1: "0".repeat(40) },
    { text: "", why: "digest", problem: `its SHA-1 is ${hex("sha1")}, not ${"0".repeat(40)}` },
  ],
  [
    "another digest of an unknown size, after the last chunk",
    ["one two threw"],
    { sha256: exact.sha256 },
    { text: "one two threw", why: "digest", problem: `its SHA-256 is ${otherDigest}, not ${exact.sha256}` },
  ],
  [
    "more than allowed",
    ["one ", "two three"],
    { ...exact, mostBytes: 12 },
    { text: "one ", why: "limit", problem: "it has more than 12 bytes" },
  ],
];
for (const [fact, chunks, expected, found] of wrong)
  test(`bytes stop at ${fact}`, async () => {
    assert.deepEqual(await pass(chunks, expected), found);
  });
