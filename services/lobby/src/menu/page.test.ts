import assert from "node:assert/strict";
import { test } from "node:test";
import { buttonsOf, clickOf, pageOf } from "./page.ts";

const servers = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`);

const counts: [number, number][] = [
  [0, 1],
  [1, 1],
  [45, 1],
  [46, 2],
  [90, 2],
  [91, 3],
  [500, 12],
];
for (const [count, pages] of counts) {
  test(`${count} servers have ${pages} pages, which hold each server once and in order`, () => {
    const all = servers(count);
    assert.equal(pageOf(all, 0).count, pages);
    const shown = Array.from({ length: pages }, (_, index) => pageOf(all, index).tiles).flat();
    assert.deepEqual(shown, all);
  });
}

test("a page that no longer exists is the last there is", () => {
  assert.equal(pageOf(servers(50), 9).index, 1);
  assert.equal(pageOf(servers(10), 1).index, 0);
  assert.equal(pageOf(servers(10), -1).index, 0);
});

test("only the pages that exist have a button", () => {
  assert.deepEqual(buttonsOf(pageOf(servers(45), 0)), { refresh: 49 });
  assert.deepEqual(buttonsOf(pageOf(servers(91), 0)), { refresh: 49, next: 53 });
  assert.deepEqual(buttonsOf(pageOf(servers(91), 1)), { refresh: 49, previous: 45, next: 53 });
  assert.deepEqual(buttonsOf(pageOf(servers(91), 2)), { refresh: 49, previous: 45 });
});

test("a click means what its slot shows, and nothing elsewhere", () => {
  const middle = pageOf(servers(91), 1);
  assert.deepEqual(clickOf(middle, 0), { kind: "server", position: 0 });
  assert.deepEqual(clickOf(middle, 44), { kind: "server", position: 44 });
  assert.deepEqual(clickOf(middle, 45), { kind: "page", index: 0 });
  assert.deepEqual(clickOf(middle, 53), { kind: "page", index: 2 });
  assert.deepEqual(clickOf(middle, 49), { kind: "refresh" });
  const last = pageOf(servers(91), 2);
  for (const slot of [1, 44, 53, 46, 54, 89, -1, -999, 0.5, Number.NaN]) {
    assert.deepEqual(clickOf(last, slot), { kind: "nothing" }, String(slot));
  }
});
