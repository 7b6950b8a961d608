import assert from "node:assert/strict";
import { test } from "node:test";
import { matchesName, matchesPath } from "./glob.ts";
import { expand, splitWords } from "./words.ts";

test("a pattern matches the names that Docker's matches", () => {
  const table: [pattern: string, name: string, matched: boolean][] = [
    ["*.jar", "a.jar", true],
    ["*.jar", ".jar", true],
    ["*.jar", "a.jar.old", false],
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["[a-c]x", "bx", true],
    ["[^a-c]x", "bx", false],
    ["[!a-c]x", "dx", true],
    ["a\\*b", "a*b", true],
    ["a\\*b", "axb", false],
    ["[", "[", true],
    ["*a*b", "xaxxab", true],
    ["", "", true],
  ];
  for (const [pattern, name, matched] of table)
    assert.equal(matchesName(pattern, name), matched, `${pattern} ${name}`);
  const path = (pattern: string, text: string) => matchesPath(pattern.split("/"), text.split("/"));
  assert.equal(path("**/*.log", "a/b/c.log"), true);
  assert.equal(path("**/*.log", "c.log"), true);
  assert.equal(path("a/**", "a/b/c"), true);
  assert.equal(path("a/*", "a/b/c"), false);
});

test("a hostile pattern is matched in time", () => {
  const startedAt = performance.now();
  assert.equal(matchesName(`${"*a".repeat(500)}b`, "a".repeat(1_000)), false);
  assert.equal(matchesPath(`${"**/a/".repeat(100)}b`.split("/"), Array(1_000).fill("a")), false);
  assert.ok(performance.now() - startedAt < 20_000);
  assert.throws(() => matchesName("[".repeat(5_000), "a"), /more than 4096 characters: \[\[/);
});

test("words and variables are read as Docker reads them", () => {
  const variables = new Map([
    ["A", "1"],
    ["EMPTY", ""],
  ]);
  const table: [text: string, value: string][] = [
    ["$A-$B", "1-"],
    [`\${A}x`, "1x"],
    [`\${B:-two}`, "two"],
    [`\${EMPTY:-two}`, "two"],
    [`\${A:+yes}\${B:+no}`, "yes"],
    ["\\$A", "$A"],
    ["5$", "5$"],
  ];
  for (const [text, value] of table) assert.equal(expand(text, variables), value, text);
  assert.throws(() => expand(`\${A:?x}`, variables), /is not a variable/);
  assert.throws(() => expand(`\${A`, variables), /is not a variable/);
  assert.deepEqual(splitWords(`a "b c" 'd\\e' f\\ g ""`), ["a", "b c", "d\\e", "f g", ""]);
});
