import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ServerTag } from "@svc/proto";
import { changed, outcomeOf, parseTag } from "./tag.ts";

const tag = (name: string, colour: ServerTag["colour"] = "grey"): ServerTag => ({ name, colour });

describe("tags on the command line", () => {
  test("a tag is grey unless it says otherwise", () => {
    assert.deepEqual(parseTag("event"), tag("event"));
    assert.deepEqual(parseTag("event night:red"), tag("event night", "red"));
    assert.throws(() => parseTag("event:pink"), /one of the colours grey, blue/);
    assert.throws(() => parseTag("event:"), /--add event:/);
  });

  test("they are a table, and of one server of several a line", () => {
    const tags = [tag("event", "red"), tag("old")];
    assert.match(outcomeOf("survival", tags, false).text, /^TAG +COLOUR\nevent +red\nold +grey$/);
    assert.equal(outcomeOf("survival", tags, true).text, "event (red), old (grey)");
    assert.equal(outcomeOf("survival", [], true).text, "no tags");
  });

  const before = [tag("one", "blue"), tag("two", "green")];
  const rows: [fact: string, add: ServerTag[], remove: string[], after: ServerTag[]][] = [
    ["one more comes last", [tag("three")], [], [...before, tag("three")]],
    [
      "one that is there gets the new colour",
      [tag("ONE", "red")],
      [],
      [tag("ONE", "red"), before[1] as ServerTag],
    ],
    ["one that is removed is gone, however it is typed", [], [" Two "], [tag("one", "blue")]],
    ["one that is not there cannot be removed", [], ["three"], before],
    [
      "removed and added at once, it comes last",
      [tag("one", "red")],
      ["one"],
      [tag("two", "green"), tag("one", "red")],
    ],
  ];
  for (const [fact, add, remove, after] of rows)
    test(fact, () => assert.deepEqual(changed(before, add, remove), after));
});
