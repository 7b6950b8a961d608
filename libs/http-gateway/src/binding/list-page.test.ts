import assert from "node:assert/strict";
import { test } from "node:test";
import { personalPages } from "../testing/contracts.ts";
import { createListIndex, nameKey, pageReader } from "./list-page.ts";

const read = pageReader(personalPages);
const listed = (name: string, size: number, text = name) => ({
  entry: name,
  listed: { name, text, filters: { keeper: [size > 1 ? "usr-b" : "usr-a"] }, sorts: { size } },
});
const index = createListIndex([
  listed("srv-1", 3, "srv-1\nalpha world"),
  listed("srv-2", 1, "srv-2\nbeta world"),
  listed("srv-10", 3, "srv-10\nwörld"),
]);
const select = (input: Record<string, unknown>) => {
  const page = read(input);
  assert.ok(page);
  return index.select(page.selection);
};

test("without a parameter the list is whole, with any of them it is a page of 20", () => {
  assert.equal(read({}), undefined);
  assert.equal(read({ limit: undefined }), undefined);
  const { limit, offset } = read({ sort: "size" }) ?? {};
  assert.deepEqual({ limit, offset }, { limit: 20, offset: 0 });
});

for (const [sentence, input, expected] of [
  ["the order is that of names", { limit: 9 }, ["srv-1", "srv-2", "srv-10"]],
  ["names are sorted from the end", { order: "desc" }, ["srv-10", "srv-2", "srv-1"]],
  ["a sort by name is the order of names", { sort: "name" }, ["srv-1", "srv-2", "srv-10"]],
  ["ties are broken by name", { sort: "size" }, ["srv-2", "srv-1", "srv-10"]],
  [
    "ties are broken by name in the other order too",
    { sort: "size", order: "desc" },
    ["srv-1", "srv-10", "srv-2"],
  ],
  ["every word has to be there, in any case", { query: " WORLD  srv-2" }, ["srv-2"]],
  ["a word of another language is found", { query: "WÖRLD" }, ["srv-10"]],
  ["blanks alone find everything", { query: "  " }, ["srv-1", "srv-2", "srv-10"]],
  ["what nobody has is not found", { query: "srv-3" }, []],
  ["a filter takes the rows of its value", { keeper: "usr-a" }, ["srv-2"]],
  ["a value that no row has finds nothing", { keeper: "constructor" }, []],
  ["search and filter narrow each other down", { keeper: "usr-b", query: "alpha" }, ["srv-1"]],
] as const)
  test(sentence, () => assert.deepEqual(select(input), expected));

test("an empty list has empty pages", () => {
  const page = read({ sort: "size", order: "desc" });
  assert.ok(page);
  assert.deepEqual(createListIndex([]).select(page.selection), []);
});

test("numbers in names count by their value", () => {
  const names = ["srv-10", "srv-9", "Srv-9b", "a", "srv"];
  const sorted = names.toSorted((a, b) => (nameKey(a) < nameKey(b) ? -1 : 1));
  assert.deepEqual(sorted, ["a", "srv", "srv-9", "Srv-9b", "srv-10"]);
});
