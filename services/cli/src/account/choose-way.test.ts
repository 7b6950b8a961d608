import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decideWay, parseChoice } from "./choose-way.ts";

const nobody = { isTerminal: false, hasPanel: true };
const somebody = { isTerminal: true, hasPanel: true };

describe("the way to sign in", () => {
  const cases = [
    ["without options is the data folder where nobody can be asked", {}, nobody, "host"],
    ["without options is asked for at a terminal", {}, somebody, "ask"],
    ["is not asked for where there is no panel", {}, { ...somebody, hasPanel: false }, "host"],
    ["is the mailed code for an address", { email: "a@example.org" }, somebody, "email"],
    ["is the one named, address or not", { with: "operator", email: "a@example.org" }, somebody, "operator"],
    ["is the browser by --browser", { browser: true }, nobody, "browser"],
    ["is the browser by --with browser", { with: "browser" }, nobody, "browser"],
  ] as const;
  for (const [name, given, asking, expected] of cases)
    test(name, () => assert.equal(decideWay(given, asking), expected));
});

test("an answer is a number, Enter takes the data folder, anything else is asked again", () => {
  assert.deepEqual(["", "1", "2", "3", "4", "toString", "host"].map(parseChoice), [
    ...["host", "host", "browser", "email"],
    ...[undefined, undefined, undefined],
  ]);
});
