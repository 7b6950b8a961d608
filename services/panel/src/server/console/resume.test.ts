import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createResume } from "./resume.ts";
import { createEventParser } from "./sse.ts";

type Line = readonly [atSeconds: number, text: string];

/** What a view shows of several connections, one after the other. */
function shown(...connections: readonly Line[][]): string[] {
  const resume = createResume();
  return connections.flatMap((lines) => {
    resume.reconnect();
    return lines.filter(([at, text]) => resume.accept(at, text)).map(([, text]) => text);
  });
}

describe("resuming", () => {
  const cases: [string, Line[][], string[]][] = [
    [
      "a first connection shows all",
      [
        [
          [1, "a"],
          [1, "a"],
          [2, "b"],
        ],
      ],
      ["a", "a", "b"],
    ],
    [
      "lines of the newest second come again and are skipped",
      [
        [
          [1, "a"],
          [2, "b"],
          [2, "c"],
        ],
        [
          [2, "b"],
          [2, "c"],
          [3, "d"],
        ],
      ],
      ["a", "b", "c", "d"],
    ],
    [
      "a line that was written twice is shown twice",
      [
        [[2, "x"]],
        [
          [2, "x"],
          [2, "x"],
          [3, "y"],
        ],
      ],
      ["x", "x", "y"],
    ],
    [
      "another replica orders the second differently",
      [
        [
          [2, "a"],
          [2, "b"],
        ],
        [
          [2, "b"],
          [2, "a"],
          [2, "c"],
        ],
      ],
      ["a", "b", "c"],
    ],
    [
      "what lies before the second is known",
      [
        [
          [1, "a"],
          [2, "b"],
        ],
        [
          [1, "a"],
          [2, "b"],
          [2, "c"],
        ],
      ],
      ["a", "b", "c"],
    ],
    ["dropped lines leave a gap, not a repetition", [[[2, "a"]], [[4, "d"]]], ["a", "d"]],
    [
      "a connection that breaks at once changes nothing",
      [
        [[2, "a"]],
        [],
        [
          [2, "a"],
          [2, "b"],
        ],
      ],
      ["a", "b"],
    ],
    [
      "a late line of an older second is shown",
      [
        [
          [2, "a"],
          [1, "late"],
          [2, "b"],
        ],
      ],
      ["a", "late", "b"],
    ],
  ];
  for (const [name, connections, expected] of cases)
    test(name, () => assert.deepEqual(shown(...connections), expected));
});

test("events come whole out of any chunks", () => {
  const stream =
    ": alive\n\nid: 7\ndata: one\n\nid: 7\ndata: two\ndata: lines\n\n: 12 lines were dropped, you read too slowly\n\nevent: revoked\ndata: revoked\n\n";
  const expected = [
    { kind: "line", atSeconds: 7, text: "one" },
    { kind: "line", atSeconds: 7, text: "two\nlines" },
    { kind: "dropped", count: 12 },
    { kind: "revoked" },
  ];
  for (const size of [1, 2, 3, 5, 8, 1_000]) {
    const parse = createEventParser();
    const found = [];
    for (let at = 0; at < stream.length; at += size) found.push(...parse(stream.slice(at, at + size)));
    assert.deepEqual(found, expected, `chunks of ${size}`);
  }
});
