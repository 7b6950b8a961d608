import assert from "node:assert/strict";
import { test } from "node:test";
import { colourOfIndex, colourOfRgb } from "./colours.ts";
import { markMatches, plainText, rankOfLine, styleText } from "./styled-text.ts";

test("escapes and codes become looks", () => {
  const cases: [string, ReturnType<typeof styleText>][] = [
    ["plain", [{ text: "plain", look: {} }]],
    ["", []],
    [
      "\x1b[31;1mred\x1b[0m off",
      [
        { text: "red", look: { colour: "red", isBold: true } },
        { text: " off", look: {} },
      ],
    ],
    ["\x1b[m\x1b[93mbright", [{ text: "bright", look: { colour: "yellow" } }]],
    [
      "\x1b[38;5;196mdeep\x1b[38;2;1;2;3mtrue\x1b[48;5;21;39mground",
      [
        { text: "deep", look: { colour: "red" } },
        { text: "true", look: { colour: "grey" } },
        { text: "ground", look: {} },
      ],
    ],
    [
      "§x§5§5§f§f§5§5hex§xbroken",
      [
        { text: "hex", look: { colour: "green" } },
        { text: "broken", look: { colour: "green" } },
      ],
    ],
    [
      "§lbold §cred§r end",
      [
        { text: "bold ", look: { isBold: true } },
        { text: "red", look: { colour: "red" } },
        { text: " end", look: {} },
      ],
    ],
    ["§k§zkept", [{ text: "§zkept", look: {} }]],
  ];
  for (const [line, expected] of cases) assert.deepEqual(styleText(line), expected, JSON.stringify(line));
});

test("no other escape is left", () => {
  const cases = [
    ["\x1b[2J\x1b[1;1Hcleared", "cleared"],
    ["\x1b]0;title\x07shown", "shown"],
    ["\x1b]8;;http://evil.example\x1b\\text\x1b]8;;\x1b\\", "text"],
    ["\x1bcreset", "reset"],
    ["\x1b[31mred", "red"],
    ["a\x1b", "a\u241b"],
    ["a\u202eb\u200bc\x00\r\x85", "a[U+202E]b[U+200B]c\u2400\u240d[U+0085]"],
    ["tab\tstays", "tab\tstays"],
  ];
  for (const [line = "", expected = ""] of cases) {
    assert.equal(plainText(line), expected);
    assert.equal(
      styleText(line)
        .map(({ text }) => text)
        .join(""),
      expected,
    );
  }
});

test("only addresses of the web become links", () => {
  const hrefs = (line: string) => styleText(line).flatMap(({ href }) => href ?? []);
  assert.deepEqual(hrefs("see https://example.net/a?b=c, then"), ["https://example.net/a?b=c"]);
  assert.deepEqual(hrefs("(http://example.net/x)"), ["http://example.net/x"]);
  assert.deepEqual(hrefs("javascript:alert(1) data:text/html,x file:///etc/passwd //evil.example"), []);
});

test("a line has the level that it names, and one without belongs to the line before", () => {
  assert.equal(rankOfLine("[12:00:00] [Server thread/INFO]: Done"), 1);
  assert.equal(rankOfLine("[12:00:00 WARN]: Can't keep up!"), 2);
  assert.equal(rankOfLine("[Server thread/ERROR] [net.minecraft]: x"), 3);
  assert.equal(rankOfLine("\tat java.base/java.lang.Thread.run"), undefined);
  assert.equal(rankOfLine("<player> WARN: nothing"), 2);
});

test("any colour becomes the token next to it", () => {
  const cases: [readonly [number, number, number], string][] = [
    [[255, 85, 85], "red"],
    [[255, 170, 0], "yellow"],
    [[85, 255, 85], "green"],
    [[0, 170, 170], "cyan"],
    [[85, 85, 255], "blue"],
    [[170, 0, 170], "magenta"],
    [[255, 255, 255], "white"],
    [[120, 120, 130], "grey"],
    [[0, 0, 0], "grey"],
  ];
  for (const [rgb, expected] of cases) assert.equal(colourOfRgb(rgb), expected, rgb.join());
  const byIndex = [1, 9, 46, 21, 240, 255].map(colourOfIndex);
  assert.deepEqual(byIndex, ["red", "red", "green", "blue", "grey", "white"]);
});

test("what a search found is marked, whatever its case", () => {
  const marked = (text: string, search: string) =>
    markMatches(styleText(text), search).map(({ text: part, isMatch = false }) =>
      isMatch ? `<${part}>` : part,
    );
  assert.deepEqual(marked("Alice met alice", "ALICE"), ["<Alice>", " met ", "<alice>"]);
  assert.deepEqual(marked("aaa", "aa"), ["<aa>", "a"]);
  assert.deepEqual(marked("İstanbul x", "x"), ["İstanbul x"]);
  assert.deepEqual(marked("plain", ""), ["plain"]);
});
