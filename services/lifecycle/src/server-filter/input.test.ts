import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Filter, readFilter } from "./input.ts";

const valid: Filter = { name: "Event", search: "night", tag: "", node: "", sort: "name" };
const all: Filter = { ...valid, search: "" };

const refused: readonly (readonly [fact: string, filter: Filter, message: RegExp])[] = [
  ["without a name", { ...valid, name: " " }, /a name/],
  ["with a name of control characters", { ...valid, name: "\u202e\u0007" }, /a name/],
  ["with a name that is too long", { ...valid, name: "x".repeat(65) }, /64 characters; this one has 65/],
  [
    "with a search that is too long",
    { ...valid, search: "x".repeat(101) },
    /100 characters; this one has 101/,
  ],
  ["with a tag that is too long", { ...valid, tag: "x".repeat(25) }, /24 characters/],
  ["that finds everything", all, /Say what the filter finds/],
  ["whose search is invisible", { ...all, search: "\u200b" }, /Say what the filter finds/],
];
const taken: readonly (readonly [fact: string, filter: Filter, kept: Partial<Filter>])[] = [
  ["with a search", valid, {}],
  ["with a state alone", { ...all, show: "failed" }, {}],
  ["with a node alone", { ...all, node: " worker-1 " }, { node: "worker-1" }],
  ["with an order alone", { ...all, sort: "players" }, {}],
  ["with a tag, as servers have it", { ...all, tag: " Event\u202e Night " }, { tag: "event night" }],
  [
    "with a name without what would change the text around it",
    { ...valid, name: " My\u202e  event " },
    { name: "My event" },
  ],
  ["that is as long as it may be", { ...valid, name: "x".repeat(64), search: "y".repeat(100) }, {}],
];

describe("a filter", () => {
  for (const [fact, filter, message] of refused)
    test(`${fact} is refused with what to do`, () => {
      const read = readFilter(filter);
      assert.match(read.kind === "refused" ? read.message : "", message);
    });
  for (const [fact, filter, kept] of taken)
    test(`${fact} is taken`, () => {
      assert.deepEqual(readFilter(filter), { kind: "read", filter: { ...filter, ...kept } });
    });
});
