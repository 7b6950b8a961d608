import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { ChunkList } from "./chunk-list.ts";

const digestOf = (text: string) => hash("sha256", text, "buffer");
const placeOf = (number: number) => ({ pack: number % 7, at: number * 3, length: number + 1 });

test("a list finds each of its chunks while it grows, and nothing else", () => {
  const list = new ChunkList();
  assert.equal(list.find(digestOf("0")), undefined);
  for (let number = 0; number < 5_000; number += 1) {
    list.add(digestOf(`${number}`), placeOf(number));
    if (number % 997 === 0) assert.equal(list.find(digestOf(`${number}`)), number);
  }
  assert.equal(list.count, 5_000);
  for (let number = 0; number < 5_000; number += 1) {
    assert.equal(list.find(digestOf(`${number}`)), number);
    assert.deepEqual(list.placeOf(number), placeOf(number));
  }
  assert.equal(list.find(digestOf("5000")), undefined);
  const again = new ChunkList(list.entries());
  assert.equal(again.count, 5_000);
  assert.equal(again.find(digestOf("4999")), 4_999);
  assert.deepEqual(again.placeOf(4_999), placeOf(4_999));
});

test("of equal chunks the first is found, and digests that begin alike are told apart", () => {
  const list = new ChunkList();
  const first = Buffer.alloc(32, 1);
  const other = Buffer.alloc(32, 1);
  other[31] = 2;
  for (const digest of [first, other, first]) list.add(digest, placeOf(list.count));
  assert.deepEqual([list.find(first), list.find(other)], [0, 1]);
  const unlike = Buffer.from(first);
  unlike[16] = 9;
  assert.equal(list.find(unlike), undefined);
});
