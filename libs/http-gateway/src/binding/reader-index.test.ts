import assert from "node:assert/strict";
import { test } from "node:test";
import { type Audience, createReaderIndex } from "./reader-index.ts";

function indexOf(entries: Map<string, Audience>) {
  let asked = 0;
  const state = { isReady: true };
  const index = createReaderIndex({
    isReady: () => state.isReady,
    keys: () => [...entries.keys()].sort(),
    audienceOf: (key) => {
      asked += 1;
      return entries.get(key);
    },
  });
  const put = (key: string, audience: Audience | undefined) => {
    if (audience === undefined) entries.delete(key);
    else entries.set(key, audience);
    index.changed(key);
  };
  return { ...index, put, state, asked: () => asked };
}

test("an account gets what is for it and what is for everybody, in order", () => {
  const { keysFor } = indexOf(
    new Map<string, Audience>([
      ["c", ["ann"]],
      ["a", ["bob", "ann"]],
      ["b", "everybody"],
      ["d", []],
    ]),
  );
  assert.deepEqual(keysFor("ann"), ["a", "b", "c"]);
  assert.deepEqual(keysFor("bob"), ["a", "b"]);
  assert.deepEqual(keysFor("eve"), ["b"]);
});

test("an entry that changes hands leaves one list and enters another, and one that goes leaves all", () => {
  const { keysFor, put } = indexOf(new Map<string, Audience>([["a", ["ann"]]]));
  assert.deepEqual(keysFor("ann"), ["a"]);
  put("a", ["bob"]);
  assert.deepEqual([keysFor("ann"), keysFor("bob")], [[], ["a"]]);
  put("a", "everybody");
  assert.deepEqual([keysFor("ann"), keysFor("bob")], [["a"], ["a"]]);
  put("a", undefined);
  assert.deepEqual([keysFor("ann"), keysFor("bob")], [[], []]);
  put("b", ["ann"]);
  assert.deepEqual(keysFor("ann"), ["b"]);
});

test("after the first question only what has changed is looked at", () => {
  const entries = new Map<string, Audience>(Array.from({ length: 1_000 }, (_, n) => [`s${n}`, [`u${n}`]]));
  const { keysFor, put, asked } = indexOf(entries);
  keysFor("u1");
  assert.equal(asked(), 1_000);
  put("s5", ["u1"]);
  put("s5", ["u1", "u2"]);
  assert.deepEqual(keysFor("u1"), ["s1", "s5"]);
  assert.equal(asked(), 1_001);
});

test("nothing is answered before the copy is there, and then all of it", () => {
  const entries = new Map<string, Audience>();
  const { keysFor, put, state } = indexOf(entries);
  state.isReady = false;
  put("a", ["ann"]);
  assert.equal(keysFor("ann"), undefined);
  state.isReady = true;
  assert.deepEqual(keysFor("ann"), ["a"]);
});

test("it says the same as looking at every entry, whatever has changed", () => {
  let seed = 7;
  const next = (limit: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % limit;
  };
  const entries = new Map<string, Audience>();
  const { keysFor, put } = indexOf(entries);
  const accounts = ["a", "b", "c"];
  for (let step = 0; step < 2_000; step++) {
    const audiences = [undefined, "everybody" as const, [], accounts.filter(() => next(2) === 0)];
    put(`k${next(20)}`, audiences[next(4)]);
    const account = accounts[next(3)] ?? "";
    const isFor = (audience: Audience) => audience === "everybody" || audience.includes(account);
    const wanted = [...entries].filter(([, audience]) => isFor(audience)).map(([key]) => key);
    assert.deepEqual(keysFor(account), wanted.sort());
  }
});
