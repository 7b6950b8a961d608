import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { findLines, hasText, isBinary } from "./search-text.ts";

const asTyped = (text: string) => ({ text, matchCase: true });
const anyCase = (text: string) => ({ text, matchCase: false });
const long = (before: number, after: number) => `${"a".repeat(before)}needle${"b".repeat(after)}`;

describe("a text has what is searched", () => {
  const cases: [where: string, text: string, inAnyCase: boolean, asTyped: boolean][] = [
    ["server.properties", "prop", true, true],
    ["Essentials.jar", "essentials", true, false],
    ["ÄRGER.yml", "ärger", true, false],
    ["a.yml", "a*.yml", false, false],
    ["axyml", "a.yml", false, false],
    ["(a+)+$", "(a+)+$", true, true],
    ["世界.dat", "世界", true, true],
    ["", "a", false, false],
  ];
  for (const [where, text, inAnyCase, isTyped] of cases)
    test(`${JSON.stringify(text)} in ${JSON.stringify(where)}`, () => {
      assert.equal(hasText(where, anyCase(text)), inAnyCase);
      assert.equal(hasText(where, asTyped(text)), isTyped);
    });
});

describe("the lines that have a text", () => {
  type Case = [content: string, text: string, lines: [number, string][]];
  const cases: Record<string, Case> = {
    "are counted from 1": [
      "a\nb\na",
      "a",
      [
        [1, "a"],
        [3, "a"],
      ],
    ],
    "end where Windows ends them": ["motd=hi\r\nport=1\r\n", "port", [[2, "port=1"]]],
    "are none of an empty file": ["", "a", []],
    "count once however often they have it": ["aaaa", "a", [[1, "aaaa"]]],
    "are found in another case": ["View-Distance: 10", "view-distance", [[1, "View-Distance: 10"]]],
    "are found behind a letter that grows in lower case": ["İİİ port=1", "PORT", [[1, "İİİ port=1"]]],
    "are shortened around it": [
      long(300, 300),
      "needle",
      [[1, `…${"a".repeat(60)}needle${"b".repeat(134)}…`]],
    ],
    "are shortened at their end alone": [long(10, 300), "needle", [[1, `${long(10, 184)}…`]]],
    "are shortened at their beginning alone": [long(300, 0), "needle", [[1, `…${"a".repeat(194)}needle`]]],
    "are well-formed where a character is cut": [
      `${"😀".repeat(200)}needle`,
      "needle",
      [[1, `…${"😀".repeat(97)}needle`]],
    ],
  };
  for (const [fact, [content, text, lines]] of Object.entries(cases))
    test(fact, () =>
      assert.deepEqual(findLines(content, anyCase(text), 5), {
        lines: lines.map(([line, shown]) => ({ line, text: shown })),
        isMore: false,
      }),
    );

  test("are no more than are wanted, and it is said", () => {
    const five = Array.from({ length: 5 }, (_, at) => ({ line: at + 1, text: "a" }));
    assert.deepEqual(findLines("a\n".repeat(5), anyCase("a"), 5), { lines: five, isMore: false });
    assert.deepEqual(findLines("a\n".repeat(6), anyCase("a"), 5), { lines: five, isMore: true });
  });

  test("are found in time that grows with the length alone", () => {
    const timeOf = (size: number) => {
      const hostile = `${"a".repeat(size)}\n`.repeat(4);
      const before = process.cpuUsage();
      findLines(hostile, anyCase(`b${"a".repeat(199)}`), 5);
      findLines(hostile, anyCase(`${"a".repeat(199)}b`), 5);
      findLines("\n".repeat(size), anyCase("b"), 5);
      return process.cpuUsage(before).user;
    };
    timeOf(1 << 16);
    assert.ok(timeOf(1 << 20) < 5_000_000, "4 MiB take less than five seconds of CPU");
  });
});

test("a file is binary when a NUL is in its first 8 KiB", () => {
  const at = (index: number) => {
    const bytes = Buffer.alloc(20_000, "a");
    bytes[index] = 0;
    return bytes;
  };
  assert.deepEqual([at(0), at(8_191), at(8_192), Buffer.alloc(0)].map(isBinary), [true, true, false, false]);
});
