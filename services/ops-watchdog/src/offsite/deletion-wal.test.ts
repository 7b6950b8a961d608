import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { nextSegment, segmentBytes, segmentName } from "../wal/lsn.ts";
import { surplusWal, type WalFacts } from "./deletion-wal.ts";
import { baseFiles, keyOfWal } from "./wal-key.ts";

const day = 86_400_000;
const now = Date.parse("2026-11-23T12:00:00Z");
const ago = (days: number) => new Date(now - days * day);
const stampOf = (days: number) => ago(days).toISOString().replaceAll(/[-:.]/g, "");

type Base = { days: number; start: number; isUsable?: boolean };
type Described = { days: number; bases: Base[]; segments: number };

const runName = ({ days }: Pick<Described, "days">) => `run-${stampOf(days)}`;
const baseName = ({ days }: Pick<Base, "days">) => `base-${stampOf(days)}`;
const lsnOf = (segment: number) => BigInt(segment) * BigInt(segmentBytes);
const segmentPath = (run: Described, segment: number) =>
  `${runName(run)}/wal/${segmentName(1, lsnOf(segment))}`;

/** Base backups begin in the segment of their number; segments are those from 1 on. */
function factsOf(runs: Described[], about: Partial<WalFacts> = {}) {
  const wal: WalFacts = {
    runs: runs.map((run) => ({
      name: runName(run),
      startedAt: ago(run.days),
      segments: Array.from({ length: run.segments }, (_, index) => ({
        name: segmentName(1, lsnOf(index + 1)),
        start: lsnOf(index + 1),
      })),
      bases: run.bases.map((base) => ({
        name: baseName(base),
        endedAt: ago(base.days),
        start: lsnOf(base.start) + 40n,
        isUsable: base.isUsable ?? true,
      })),
    })),
    coveredFrom: ago(7),
    local: new Set(),
    localKeepMs: 7 * day,
    keepMs: 7 * day,
    ...about,
  };
  const paths = runs.flatMap((run) => [
    `${runName(run)}/run.json`,
    `${runName(run)}/received.json`,
    ...Array.from({ length: run.segments }, (_, index) => segmentPath(run, index + 1)),
    ...run.bases.flatMap((base) => baseFiles.map((file) => `${runName(run)}/${baseName(base)}/${file}`)),
  ]);
  return { wal, objects: paths.map((path) => ({ key: keyOfWal(path), modifiedAt: ago(40) })) };
}

const gone = ({ wal, objects }: ReturnType<typeof factsOf>) => surplusWal(objects, wal, now);

const old: Described = {
  days: 30,
  bases: [
    { days: 20, start: 1 },
    { days: 15, start: 3 },
    { days: 10, start: 4 },
  ],
  segments: 5,
};
const goneOfOld = [
  ...[1, 2].map((segment) => keyOfWal(segmentPath(old, segment))),
  ...baseFiles.map((file) => keyOfWal(`${runName(old)}/${baseName({ days: 20 })}/${file}`)),
];

describe("copies of the log", () => {
  for (const [fact, facts, expected] of [
    [
      "from the newest base backup before the time that is kept on stay, and what is older goes",
      factsOf([old]),
      goneOfOld,
    ],
    ["stay while nothing is known of what is covered here", { ...factsOf([old]), wal: undefined }, []],
    [
      "stay as long where what is covered here has just begun",
      factsOf([old], { coveredFrom: ago(0) }),
      goneOfOld,
    ],
    ["stay longer where more is covered here", factsOf([old], { coveredFrom: ago(9) }), []],
    [
      "that are here stay",
      factsOf([old], {
        local: new Set([segmentPath(old, 1), `${runName(old)}/${baseName({ days: 20 })}/base.json`]),
      }),
      goneOfOld.filter((key) => key !== goneOfOld[0] && !key.endsWith("base.json.sealed")),
    ],
    ["stay where no base backup is that old", factsOf([{ ...old, bases: [{ days: 13, start: 1 }] }]), []],
    [
      "stay where the base backup that would replace them cannot be used",
      factsOf([
        {
          ...old,
          bases: [
            { days: 20, start: 1 },
            { days: 15, start: 3, isUsable: false },
          ],
        },
      ]),
      [],
    ],
    ["of the future neither go nor count", factsOf([{ ...old, bases: [{ days: -1, start: 1 }] }]), []],
  ] as const) {
    test(fact, () => {
      const found = surplusWal(facts.objects, facts.wal, now);
      assert.deepEqual([...found].sort(), [...expected].sort());
    });
  }

  test("of a run that is over go whole, what names it last; the newest run stays", () => {
    const over: Described = { days: 40, bases: [{ days: 35, start: 1 }], segments: 2 };
    const found = gone(factsOf([over, old]));
    const below = found.filter((key) => key.startsWith(`wal/${runName(over)}/`));
    assert.equal(below.length, 2 + 2 + 3);
    assert.equal(found.at(-1), keyOfWal(`${runName(over)}/run.json`));
    const rank = (end: string) => found.findIndex((key) => key.endsWith(end));
    assert.ok(rank("base.tar.zst.sealed") < rank("base.json.sealed"));
    assert.deepEqual(gone(factsOf([over])), []);
  });

  test("of the beginning of a segment go once it is whole, and stay before and while it is here", () => {
    const run: Described = { days: 1, bases: [{ days: 1, start: 1 }], segments: 2 };
    const open = (segment: number) => `${segmentPath(run, segment)}.partial`;
    const about = (local: string[] = []) => {
      const { wal, objects } = factsOf([run], { local: new Set(local) });
      const more = [2, 3].map((segment) => ({ key: keyOfWal(open(segment)), modifiedAt: ago(0) }));
      return { wal, objects: [...objects, ...more] };
    };
    assert.deepEqual(gone(about()), [keyOfWal(open(2))]);
    assert.deepEqual(gone(about([open(2)])), []);
    assert.equal(nextSegment(lsnOf(2)), lsnOf(3));
  });

  test("of a base backup that was never complete go when they are old", () => {
    const run: Described = { days: 1, bases: [{ days: 1, start: 1 }], segments: 1 };
    const left = keyOfWal(`${runName(run)}/${baseName({ days: 20 })}/base.tar.zst`);
    for (const [days, expected] of [
      [20, [left]],
      [13, []],
    ] as const) {
      const { wal, objects } = factsOf([run]);
      assert.deepEqual(gone({ wal, objects: [...objects, { key: left, modifiedAt: ago(days) }] }), expected);
    }
  });
});
