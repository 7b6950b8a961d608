import assert from "node:assert/strict";
import { test } from "node:test";
import { type Listing, lastNameOf, mergePages } from "./listing.ts";

function page(names: string, { truncated = true, free = 7 } = {}): Listing {
  const entries = [...names].map((name) => ({
    name,
    size: 0,
    is_dir: false,
    mod_time: "2026-01-01T00:00:00Z",
  }));
  return { path: "", entries, truncated, free_bytes: free };
}
const whole = (...pages: Listing[]) => {
  const { entries, truncated, free_bytes } = mergePages({ pages });
  return [entries.map(({ name }) => name).join(""), truncated, free_bytes];
};

test("pages are one folder, each name once, as the last page says", () => {
  assert.deepEqual(whole(page("abc")), ["abc", true, 7]);
  assert.deepEqual(whole(page("abc"), page("cde"), page("efg", { truncated: false, free: 5 })), [
    ..."abcdefg".split(" "),
    false,
    5,
  ]);
});

test("a name that went or came at the edge of a page changes no other", () => {
  assert.deepEqual(whole(page("abc"), page("de", { truncated: false })), ["abcde", false, 7]);
  assert.deepEqual(whole(page("abc"), page("cxy", { truncated: false })), ["abcxy", false, 7]);
  assert.deepEqual(whole(page("abc"), page("", { truncated: false })), ["abc", false, 7]);
});

test("the next page begins at the last name, where there is one that brings more", () => {
  assert.equal(lastNameOf(page("abc"), [], undefined), "c");
  assert.equal(lastNameOf(page("cde"), [], "c"), "e");
  assert.equal(lastNameOf(page("abc", { truncated: false }), [], undefined), undefined);
  assert.equal(lastNameOf(page("c"), [], "c"), undefined);
});
