import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { archiveNameOf, whyNoArchive } from "./archive-choice.ts";

describe("a zip", () => {
  const cases: Record<string, [zip: string, count: number, why: string | undefined]> = {
    "of one file is made": ["a.zip", 1, undefined],
    "ends in large letters too": ["a.ZIP", 1, undefined],
    "of a hundred files is made": ["a.zip", 100, undefined],
    "of more is not": ["a.zip", 101, "many"],
    "needs a name": ["", 1, "name"],
    "lies in no other folder": ["b/a.zip", 1, "name"],
    "takes no name of the platform": [".svc-a.zip", 1, "name"],
    "needs its ending": ["a.tar", 1, "ending"],
    "needs more than its ending": [".zip", 1, "ending"],
  };
  for (const [fact, [zip, count, why]] of Object.entries(cases))
    test(fact, () => assert.equal(whyNoArchive(zip, count), why));

  test("of one thing has its name, and of several none yet", () => {
    assert.deepEqual([archiveNameOf("plugins"), archiveNameOf(undefined)], ["plugins.zip", ""]);
  });
});
