import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { firstSearch, type SearchView, searchAddressOf, searchViewOf } from "./search-view.ts";

describe("an address", () => {
  const cases: Record<string, [Record<string, unknown>, SearchView | undefined]> = {
    "of a folder is no search": [{ path: "plugins" }, undefined],
    "with something else is no search": [{ find: { a: 1 } }, undefined],
    "without a text is a search that has not begun": [{ find: "" }, firstSearch],
    "with a number searches its digits": [{ find: 25565 }, { ...firstSearch, text: "25565" }],
    "with an unknown place searches everywhere": [
      { find: "a", in: "x" },
      { ...firstSearch, text: "a" },
    ],
    "has place and case": [
      { find: "a", in: "names", case: "yes" },
      { text: "a", place: "names", matchesCase: true },
    ],
    "with too long a text has its beginning": [
      { find: "a".repeat(300) },
      { ...firstSearch, text: "a".repeat(200) },
    ],
  };
  for (const [fact, [address, view]] of Object.entries(cases))
    test(fact, () => assert.deepEqual(searchViewOf(address), view));
});

test("a search comes back from its address", () => {
  const view: SearchView = { text: "a/b", place: "content", matchesCase: true };
  assert.deepEqual(searchViewOf(searchAddressOf("plugins", view)), view);
  assert.deepEqual(searchAddressOf("", firstSearch), { find: "" });
});
