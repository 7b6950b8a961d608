import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type DeletionFacts, decideDeletions } from "./deletion.ts";
import { keyOfArchive, keyOfManifest, keyOfPack } from "./object-key.ts";

const day = 86_400_000;
const now = Date.parse("2026-11-23T12:00:00Z");
const ago = (days: number) => new Date(now - days * day);
const archive = (days: number, server = "survival") =>
  `${server}-${BigInt(ago(days).getTime()) * 1_000_000n}.tar.zst`;
const pack = (letter: string, server = "survival") => `${server}-${letter.repeat(32)}.pack`;

const namesOf = (letters: string) => ({ packs: [...letters].map((one) => ({ name: pack(one) })) });

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

type About = {
  /** Days since they were begun, and the packs that each names by letter; undefined = it cannot be read. */
  manifests?: [days: number, names: string | undefined][];
  /** When each was stored. */
  packs: [letter: string, days: number | undefined][];
  marks?: [letter: string, days: number][];
  archives?: Row[];
  missing?: string[];
  isUnknown?: boolean;
  bundle?: DeletionFacts["newestBundle"];
};

function plan({ manifests = [], packs, marks = [], ...about }: About) {
  const { archives = [row(1, "present", 30)], missing = [], isUnknown = false } = about;
  const { bundle = { accounts: 5, servers: 4 } } = about;
  const readable = manifests.flatMap(([days, names]) =>
    names === undefined ? [] : [[keyOfManifest(archive(days)), namesOf(names)] as const],
  );
  return decideDeletions({
    now,
    objects: [
      ...manifests.map(([days]) => object(keyOfManifest(archive(days)), days)),
      ...packs.map(([letter, days]) => object(keyOfPack(pack(letter)), days)),
    ],
    archives,
    longestRetentionMs: 90 * day,
    dbKeep: 3,
    newestBundle: bundle,
    indexKeepMs: 14 * day,
    named: {},
    wal: undefined,
    packs: isUnknown
      ? undefined
      : {
          named: new Map(readable),
          retiredAt: new Map(marks.map(([letter, days]) => [pack(letter), ago(days).getTime()])),
          missing: new Set(missing),
        },
  });
}

const cases: [fact: string, about: About, gone: string, marks: [letter: string, days: number][]][] = [
  ["that a manifest names stays, however old", { manifests: [[1, "a"]], packs: [["a", 300]] }, "", []],
  [
    "that a manifest names again loses its mark",
    { manifests: [[1, "a"]], packs: [["a", 300]], marks: [["a", 200]] },
    "",
    [],
  ],
  [
    "that several name stays for the last of them",
    {
      manifests: [
        [50, ""],
        [1, "a"],
      ],
      packs: [["a", 300]],
      marks: [["a", 200]],
    },
    "",
    [],
  ],
  ["that nothing names gets a mark and stays", { packs: [["a", 300]] }, "", [["a", 0]]],
  [
    "that was marked less than the time ago stays",
    { packs: [["a", 300]], marks: [["a", 13]] },
    "",
    [["a", 13]],
  ],
  ["that was marked as long ago goes", { packs: [["a", 300]], marks: [["a", 14]] }, "a", [["a", 14]]],
  ["that was stored again since stays", { packs: [["a", 3]], marks: [["a", 20]] }, "", [["a", 20]]],
  ["that is dated in the future stays", { packs: [["a", -1]], marks: [["a", 20]] }, "", [["a", 20]]],
  ["with a mark of the future stays", { packs: [["a", 300]], marks: [["a", -1]] }, "", [["a", -1]]],
  [
    "of which the bucket does not say how old it is stays",
    { packs: [["a", undefined]], marks: [["a", 20]] },
    "",
    [["a", 20]],
  ],
  [
    "stays while one manifest cannot be read, whatever server it is of",
    {
      manifests: [
        [1, undefined],
        [2, "b"],
      ],
      packs: [
        ["a", 300],
        ["b", 300],
        ["c", 300],
      ],
      marks: [["a", 20]],
    },
    "",
    [["a", 20]],
  ],
  [
    "stays while a present backup of its server is neither here nor in the bucket",
    {
      packs: [
        ["a", 300],
        ["b", 300],
      ],
      marks: [["a", 20]],
      missing: ["survival"],
    },
    "",
    [["a", 20]],
  ],
  [
    "goes although one of another server is missing",
    { packs: [["a", 300]], marks: [["a", 20]], missing: ["creative"] },
    "a",
    [["a", 20]],
  ],
  ["without its object loses its mark", { packs: [], marks: [["a", 20]] }, "", []],
];

describe("a pack", () => {
  for (const [fact, about, gone, marks] of cases) {
    test(fact, () => {
      const decided = plan(about);
      assert.ok(decided.skipped === undefined);
      assert.deepEqual(
        decided.keys,
        [...gone].map((letter) => keyOfPack(pack(letter))),
      );
      const left = [...(decided.retiredAt ?? [])];
      assert.deepEqual(
        left,
        marks.map(([letter, days]) => [pack(letter), ago(days).getTime()]),
      );
    });
  }

  test("stays, and no mark changes, while it is not known what the manifests name", () => {
    const decided = plan({ packs: [["a", 300]], marks: [["a", 20]], isUnknown: true });
    assert.deepEqual(decided, { keys: [], retiredAt: undefined });
  });

  const lost: [fact: string, about: Partial<About>][] = [
    ["lists no archive", { archives: [] }],
    ["looks empty", { bundle: { accounts: 1, servers: 0 } }],
  ];
  for (const [fact, about] of lost) {
    test(`stays where the database ${fact}`, () => {
      assert.ok(plan({ packs: [["a", 300]], marks: [["a", 20]], ...about }).skipped);
    });
  }
});

const manifestCases: [fact: string, row: Row | undefined, modified: number, isDeleted: boolean][] = [
  ["of a present backup stays, however old", row(100, "present", -10), 99, false],
  ["of an expired backup stays until its archive was deleted", row(100, "expired", -10), 99, false],
  ["of a deleted backup stays until its retention has passed", row(100, "deleted", 1), 99, false],
  ["of a deleted backup goes once its retention has passed", row(100, "deleted", -1), 99, true],
  ["without a backup goes after the longest retention", undefined, 91, true],
  ["without a backup stays that long", undefined, 89, false],
];

describe("the manifest", () => {
  for (const [fact, about, modified, isDeleted] of manifestCases) {
    for (const keyOf of [keyOfManifest, keyOfArchive]) {
      test(`${fact}, as a whole copy does: ${keyOf(archive(100))}`, () => {
        const key = keyOf(archive(100));
        const decided = decideDeletions({
          now,
          objects: [object(key, modified), object(keyOfPack(pack("a")), 300)],
          archives: about ? [row(1, "present", 30), about] : [row(1, "present", 30)],
          longestRetentionMs: 90 * day,
          dbKeep: 3,
          newestBundle: { accounts: 5, servers: 4 },
          indexKeepMs: 14 * day,
          named: {},
          wal: undefined,
          // Its pack was marked long ago, and the manifest names it: it goes in a later pass than the manifest.
          packs: {
            named: new Map(keyOf === keyOfManifest ? [[key, namesOf("a")]] : []),
            retiredAt: new Map(),
            missing: new Set(),
          },
        });
        assert.ok(decided.skipped === undefined);
        assert.deepEqual(decided.keys, isDeleted ? [key] : []);
      });
    }
  }
});
