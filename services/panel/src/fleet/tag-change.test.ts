import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ServerTag } from "@svc/proto";
import { tagNameOf, tagsToWrite } from "./tag-change.ts";

const red = (name: string): ServerTag => ({ name, colour: "red" });
const blue = (name: string): ServerTag => ({ name, colour: "blue" });

describe("the tags that are written of one server", () => {
  const rows: [fact: string, before: ServerTag[], act: "tag" | "untag", after: ServerTag[] | undefined][] = [
    ["a tag comes last", [blue("a")], "tag", [blue("a"), red("event")]],
    ["the first tag is alone", [], "tag", [red("event")]],
    [
      "one that is there gets the colour and keeps its place",
      [blue("event"), blue("a")],
      "tag",
      [red("event"), blue("a")],
    ],
    ["nothing where it is there like that", [red("event")], "tag", undefined],
    ["a tag is taken away whatever its colour", [blue("event"), blue("a")], "untag", [blue("a")]],
    ["nothing where it is not there", [blue("a")], "untag", undefined],
  ];
  for (const [fact, before, act, after] of rows)
    test(fact, () => assert.deepEqual(tagsToWrite(before, { act, tag: red("event") }), after));
});

test("a tag is one word however it is typed", () => assert.equal(tagNameOf(" Event Night "), "event night"));
