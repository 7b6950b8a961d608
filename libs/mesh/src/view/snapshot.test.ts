import assert from "node:assert/strict";
import { test } from "node:test";
import { isStored, type KnownEntry, reconcile } from "./snapshot.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const mine = (text: string, sequence: number): KnownEntry => ({ bytes: bytes(text), sequence, isMine: true });
const stored = (text: string, sequence: number) => ({ bytes: bytes(text), sequence });

test("values of other writers are learned", () => {
  const known = new Map<string, KnownEntry>();
  assert.deepEqual(reconcile(known, new Map([["a", stored("1", 4)]]), false), []);
  assert.deepEqual(known.get("a"), { ...stored("1", 4), isMine: false });
});

test("a value of ours that is stored as written is left alone", () => {
  const known = new Map([["a", mine("1", 4)]]);
  assert.deepEqual(reconcile(known, new Map([["a", stored("1", 4)]]), false), []);
});

test("a value of ours that fell back to an older one is lost", () => {
  const known = new Map([["a", mine("2", 9)]]);
  assert.deepEqual(reconcile(known, new Map([["a", stored("1", 4)]]), false), ["a"]);
});

test("a value of ours that is gone is lost, also in a bucket that was created again", () => {
  const known = new Map([["a", mine("2", 9)]]);
  assert.deepEqual(reconcile(known, new Map(), false), ["a"]);
  assert.deepEqual(reconcile(known, new Map([["a", stored("1", 12)]]), true), ["a"]);
});

test("a later value of another writer wins over ours", () => {
  const known = new Map([["a", mine("2", 9)]]);
  assert.deepEqual(reconcile(known, new Map([["a", stored("3", 12)]]), false), []);
  assert.equal(known.get("a")?.isMine, false);
});

test("a write that failed is lost, whatever is stored", () => {
  const known = new Map([["a", mine("2", 0)]]);
  assert.deepEqual(reconcile(known, new Map([["a", stored("1", 12)]]), false), ["a"]);
});

test("a removal of ours that did not hold is lost, one that held is forgotten", () => {
  const known = new Map<string, KnownEntry>([
    ["a", { bytes: undefined, sequence: 9, isMine: true }],
    ["b", { bytes: undefined, sequence: 9, isMine: true }],
  ]);
  assert.deepEqual(reconcile(known, new Map([["a", stored("1", 4)]]), false), ["a"]);
  assert.equal(known.has("b"), false);
});

test("only bytes that are stored count as stored", () => {
  const known = new Map([
    ["a", mine("1", 0)],
    ["b", mine("1", 3)],
  ]);
  assert.equal(isStored(known, "a", bytes("1")), false);
  assert.equal(isStored(known, "b", bytes("1")), true);
  assert.equal(isStored(known, "b", bytes("2")), false);
  assert.equal(isStored(known, "c", undefined), true);
});
