import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { isWorldFault } from "../fault.ts";
import { createPartDigests } from "./part-digests.ts";
import { digestOf } from "./read.ts";

const [first, second] = [randomBytes(1_000), randomBytes(500)];
const partOf = (bytes: Buffer) => ({ size: bytes.length, sha256: digestOf(bytes) });
const nothing = Buffer.alloc(0);

function receive(parts: Buffer[], chunks: Buffer[]): void {
  const digests = createPartDigests(parts.map(partOf));
  for (const chunk of chunks) digests.update(chunk);
  digests.end();
}

describe("what arrives is held against the digest of each part", () => {
  const whole = Buffer.concat([first, second]);
  const right: [fact: string, parts: Buffer[], chunks: Buffer[]][] = [
    ["part by part", [first, second], [first, second]],
    ["in one chunk", [first, second], [whole]],
    ["byte by byte", [first, second], [...whole].map((byte) => Buffer.from([byte]))],
    ["with empty chunks", [first], [nothing, first, nothing]],
    ["nothing of no part", [], []],
    ["nothing of an empty part", [nothing], []],
  ];
  for (const [fact, parts, chunks] of right) test(`${fact} is accepted`, () => receive(parts, chunks));

  const wrong: [fact: string, parts: Buffer[], chunks: Buffer[]][] = [
    ["parts in another order", [first, second], [second, first]],
    ["another second part", [first, second], [first, randomBytes(500)]],
    ["a byte too few", [first, second], [whole.subarray(1)]],
    ["a missing last byte", [first, second], [whole.subarray(0, -1)]],
    ["a missing last part", [first, second], [first]],
    ["a byte too many", [first, second], [whole, Buffer.from([0])]],
    ["a byte of no part", [], [Buffer.from([0])]],
    ["another byte", [first, second], [Buffer.from(whole).fill(whole[7] === 0 ? 1 : 0, 7, 8)]],
  ];
  for (const [fact, parts, chunks] of wrong)
    test(`${fact} is digest_mismatch`, () => {
      assert.throws(
        () => receive(parts, chunks),
        (error) => isWorldFault(error, "digest_mismatch"),
      );
    });
});
