import assert from "node:assert/strict";
import { test } from "node:test";
import { createLinkCache } from "./link-cache.ts";

function memory(players = 3) {
  const clock = { now: 1_000 };
  return { clock, memory: createLinkCache({ keepMs: 600, players, now: () => clock.now }) };
}

test("an answer is cached for its time and not a moment longer", () => {
  const { clock, memory: linked } = memory();
  linked.remember("alice");
  clock.now += 599;
  assert.equal(linked.linkedAt("alice"), 1_000);
  clock.now += 1;
  assert.equal(linked.linkedAt("alice"), undefined);
});

test("a revoked answer is dropped at once", () => {
  const { memory: linked } = memory();
  linked.remember("alice");
  linked.forget("alice");
  assert.equal(linked.linkedAt("alice"), undefined);
});

test("the cache holds a limited number of players and drops the oldest first", () => {
  const { memory: linked } = memory();
  for (const name of ["a", "b", "c", "a", "d"]) linked.remember(name);
  assert.equal(linked.size, 3);
  assert.deepEqual(
    ["a", "b", "c", "d"].filter((name) => linked.linkedAt(name) !== undefined),
    ["a", "c", "d"],
  );
});

test("expired entries take no room", () => {
  const { clock, memory: linked } = memory(100);
  for (let index = 0; index < 50; index += 1) linked.remember(`player${index}`);
  clock.now += 600;
  linked.remember("alice");
  assert.equal(linked.size, 1);
});
