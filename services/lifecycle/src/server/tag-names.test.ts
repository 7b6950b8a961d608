import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ServerTag } from "@svc/proto";
import { readTags } from "./tag-names.ts";

const tagsOf = (...names: string[]): ServerTag[] => names.map((name) => ({ name, colour: "blue" }));
const namesOf = (given: ServerTag[]) => {
  const read = readTags(given);
  return read.kind === "read" ? read.tags.map(({ name }) => name) : "refused";
};

describe("names of tags", () => {
  const rows: [fact: string, given: ServerTag[], names: string[] | "refused"][] = [
    ["none", [], []],
    ["in lower case, without space around", tagsOf("  Event  Night "), ["event night"]],
    ["letters of any script", tagsOf("生存", "créatif", "ночь"), ["生存", "créatif", "ночь"]],
    ["composed, so that two ways to write one are one", tagsOf("cre\u0301atif", "cr\u00e9atif"), "refused"],
    ["joined words", tagsOf("v1.21_beta-2"), ["v1.21_beta-2"]],
    ["the longest", tagsOf("x".repeat(24)), ["x".repeat(24)]],
    ["one character more", tagsOf("x".repeat(25)), "refused"],
    ["nothing but space", tagsOf("  "), "refused"],
    ["a dash first, which looks like an option", tagsOf("-x"), "refused"],
    ["what has a meaning elsewhere", tagsOf("a,b"), "refused"],
    ["a colon, which parts name and colour", tagsOf("a:red"), "refused"],
    ["markup", tagsOf("<b>"), "refused"],
    ["characters that nobody sees", tagsOf("a\u200bb"), "refused"],
    ["another direction of writing", tagsOf("a\u202eb"), "refused"],
    ["a line break", tagsOf("a\nb"), "refused"],
    ["the same twice, however it is typed", tagsOf("Event", "event"), "refused"],
    ["as many as a server can have", tagsOf(..."abcdefgh"), [..."abcdefgh"]],
    ["one more", tagsOf(..."abcdefghi"), "refused"],
  ];
  for (const [fact, given, names] of rows) test(fact, () => assert.deepEqual(namesOf(given), names));
});
