import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type DeletionFacts, decideDeletions } from "./deletion.ts";
import { keyOfArchive, keyOfBundle, keyOfIndex, keyOfPart, stampOf } from "./object-key.ts";

const day = 86_400_000;
const now = Date.parse("2026-11-23T12:00:00Z");
const ago = (days: number) => new Date(now - days * day);

/** An archive that was begun so many days ago. */
const archive = (days: number) => `survival-${BigInt(ago(days).getTime()) * 1_000_000n}.tar.zst`;
const bundle = (days: number, label = "daily") =>
  `db-${ago(days)
    .toISOString()
    .replaceAll(/[-:]|\.\d+/g, "")}-${label}.tar`;

type Row = DeletionFacts["archives"][number];
const row = (days: number, status: Row["status"], expiresInDays: number): Row => ({
  archive: archive(days),
  status,
  expires_at: ago(-expiresInDays).toISOString(),
});
const object = (key: string, days: number | undefined) => ({
  key,
  modifiedAt: days === undefined ? undefined : ago(days),
});

const kept = row(1, "present", 30);
const facts = (about: Partial<DeletionFacts>): DeletionFacts => ({
  now,
  objects: [],
  archives: [kept],
  longestRetentionMs: 90 * day,
  dbKeep: 3,
  newestBundle: { accounts: 5, servers: 4 },
  indexKeepMs: 14 * day,
  named: {},
  wal: undefined,
  packs: undefined,
  ...about,
});
const gone = (about: Partial<DeletionFacts>) => {
  const plan = decideDeletions(facts(about));
  return plan.skipped === undefined ? plan.keys : plan.skipped;
};

const copy = keyOfArchive(archive(100));
const cases: [fact: string, row: Row | undefined, modified: number | undefined, isDeleted: boolean][] = [
  ["of a present backup stays, however old", row(100, "present", -10), 99, false],
  ["of an expired backup stays until its file was deleted", row(100, "expired", -10), 99, false],
  ["of a deleted backup goes once its retention has passed", row(100, "deleted", -1), 99, true],
  [
    "of an archive that was evicted early stays until its retention has passed",
    row(100, "deleted", 1),
    99,
    false,
  ],
  ["goes at the very end of the retention", row(100, "deleted", 0), 99, true],
  ["without a backup goes after the longest retention", undefined, 91, true],
  ["without a backup stays that long", undefined, 89, false],
  ["without a backup stays where the bucket does not say how old it is", undefined, undefined, false],
];

describe("the copy of an archive", () => {
  for (const [fact, about, modified, isDeleted] of cases) {
    test(fact, () => {
      const archives = about ? [kept, about] : [kept];
      const objects = [object(copy, modified)];
      assert.deepEqual(gone({ archives, objects }), isDeleted ? [copy] : []);
    });
  }

  test("without a backup stays when its name is young, whatever the clock of the bucket says", () => {
    assert.deepEqual(gone({ objects: [object(keyOfArchive(archive(80)), 200)] }), []);
  });
});

const bundles = (...found: [days: number, label?: string][]) =>
  found.map(([days, label]) => object(keyOfBundle(bundle(days, label)), days));
const bundleCases: [fact: string, found: [number, string?][], gone: [number, string?][]][] = [
  ["as many as are kept stay", [[1], [2], [3]], []],
  ["beyond those the oldest go", [[1], [2], [3], [4], [5]], [[4], [5]]],
  ["labels count together", [[1], [2, "manual"], [3, "pre-migrate"], [4]], [[4]]],
  ["one with the times of copies stays while it is the newest", [[0, "offsite"], [1], [2], [3]], []],
  ["and goes with the next one", [[0], [1, "offsite"], [2], [3]], [[1, "offsite"]]],
  ["one of the future neither counts nor goes", [[-1], [1], [2], [3]], []],
  ["the only one stays", [[400]], []],
];

describe("of bundles", () => {
  for (const [fact, found, expected] of bundleCases) {
    test(fact, () => {
      const names = expected.map(([days, label]) => keyOfBundle(bundle(days, label)));
      assert.deepEqual([...gone({ objects: bundles(...found) })].sort(), names.sort());
    });
  }
});

const indexAt = (days: number) => keyOfIndex("registry", stampOf(ago(days)));
const part = (letter: string) => keyOfPart("registry", "blobs", letter.repeat(64));
type Lists = [days: number, names: string | undefined][];
/** Lists with what they name by letters; undefined = the list cannot be read. */
const withLists = (lists: Lists, parts: [letter: string, days: number][]): Partial<DeletionFacts> => ({
  objects: [
    ...lists.map(([days]) => object(indexAt(days), days)),
    ...parts.map(([letter, days]) => object(part(letter), days)),
  ],
  named: {
    registry: new Map(
      lists.flatMap(([days, names]) =>
        names === undefined ? [] : [[indexAt(days), new Set([...names].map(part))] as const],
      ),
    ),
  },
});
const indexedCases: [
  fact: string,
  lists: Lists,
  parts: [string, number][],
  goneLists: number[],
  goneParts: string,
][] = [
  [
    "what the newest list names stays, however old",
    [[300, "ab"]],
    [
      ["a", 300],
      ["b", 300],
    ],
    [],
    "",
  ],
  [
    "what no list names goes once it is as old as lists get",
    [[1, "a"]],
    [
      ["a", 20],
      ["b", 20],
    ],
    [],
    "b",
  ],
  [
    "what no list names yet stays while it is young",
    [[1, "a"]],
    [
      ["a", 20],
      ["b", 13],
    ],
    [],
    "",
  ],
  [
    "a list stays while it was replaced for less long",
    [
      [1, "a"],
      [13, "b"],
      [40, "c"],
    ],
    [
      ["b", 40],
      ["c", 40],
    ],
    [],
    "",
  ],
  [
    "and goes with what only it names after that",
    [
      [1, "a"],
      [15, "b"],
      [40, "c"],
    ],
    [
      ["b", 40],
      ["c", 40],
    ],
    [40],
    "c",
  ],
  [
    "a list of the future replaces nothing yet",
    [
      [-1, "a"],
      [40, "b"],
    ],
    [["b", 40]],
    [],
    "",
  ],
  [
    "nothing goes while a list cannot be read",
    [
      [1, "a"],
      [15, undefined],
      [40, "c"],
    ],
    [["c", 40]],
    [],
    "",
  ],
  [
    "nothing goes where the newest list names nothing",
    [
      [1, ""],
      [40, "a"],
    ],
    [["a", 40]],
    [],
    "",
  ],
  ["nothing goes without a list", [], [["a", 400]], [], ""],
];

describe("of images", () => {
  for (const [fact, lists, parts, goneLists, goneParts] of indexedCases) {
    test(fact, () => {
      const expected = [...goneLists.map(indexAt), ...[...goneParts].map(part)];
      assert.deepEqual([...gone(withLists(lists, parts))].sort(), expected.sort());
    });
  }

  test("nothing goes where the pass could not tell what is here", () => {
    assert.deepEqual(
      gone({
        ...withLists(
          [
            [1, "a"],
            [40, "b"],
          ],
          [["b", 40]],
        ),
        named: {},
      }),
      [],
    );
  });
});

const everything = [object(copy, 99), ...bundles([1], [2], [3], [4], [5])];
const lost: [fact: string, about: Partial<DeletionFacts>, why: RegExp][] = [
  ["lists no archive", { archives: [] }, /lists no archive/],
  ["lists only deleted ones", { archives: [row(100, "deleted", -1)] }, /lists no archive/],
  ["has no bundle here", { newestBundle: undefined }, /no local bundle/],
  ["is that of a new installation", { newestBundle: { accounts: 1, servers: 0 } }, /looks empty/],
];
for (const [fact, about, why] of lost) {
  test(`nothing is deleted where the database ${fact}`, () => {
    assert.match(String(gone({ objects: everything, ...about })), why);
  });
}

test("objects that svc did not make stay", () => {
  const keys = [
    "notes.txt",
    "svc-key-id",
    "svc-writer",
    "worlds/notes.sealed",
    "worlds/survival.tar.zst.sealed",
    `db/${bundle(9)}`,
    "db/other-20200101T000000Z-daily.tar.sealed",
    "registry/index/20200101T000000.json.sealed",
    "registry/blobs/notes.sealed",
    `other/blobs/${"a".repeat(64)}.sealed`,
  ];
  const objects = [...keys.map((key) => object(key, 1_000)), ...bundles([1], [2], [3])];
  assert.deepEqual(gone({ objects }), []);
});
