import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Candidate, decideDeletions, type Keep } from "./retention.ts";

const now = new Date("2026-11-22T12:00:00Z");
const keep: Keep = {
  daily: 2,
  "pre-migrate": 2,
  "pre-restore": 1,
  offsite: 1,
  manual: Number.POSITIVE_INFINITY,
};
const hour = 3_600_000;

/** `daily-3` is a daily bundle that is three hours old; `!` marks one that is not whole. */
function bundle(text: string): Candidate {
  const [, label = "", age = "", damaged = ""] = /^([a-z-]+?)(--?\d+)(!?)$/.exec(text) ?? [];
  const hours = Number(age.slice(1));
  return {
    name: text,
    label: label as Candidate["label"],
    takenAt: new Date(now.getTime() - hours * hour),
    isWhole: damaged === "",
  };
}

type Case = {
  fact: string;
  bundles: string[];
  justVerified?: string;
  inUse?: string[];
  deleted: string[];
};

const table: Case[] = [
  {
    fact: "nothing goes while there are no more than the limit",
    bundles: ["daily-1", "daily-2"],
    deleted: [],
  },
  {
    fact: "the oldest of a label go first",
    bundles: ["daily-1", "daily-4", "daily-3", "daily-2"],
    deleted: ["daily-4", "daily-3"],
  },
  {
    fact: "labels do not push each other out",
    bundles: ["daily-1", "pre-migrate-2", "pre-migrate-3", "pre-restore-4", "offsite-5"],
    deleted: [],
  },
  {
    fact: "manual bundles all stay",
    bundles: ["daily-1", ...[2, 3, 4, 5, 6].map((age) => `manual-${age}`)],
    deleted: [],
  },
  {
    fact: "a damaged bundle does not count, so the whole one behind it stays",
    bundles: ["daily-1", "daily-2!", "daily-3", "daily-4"],
    deleted: ["daily-4"],
  },
  {
    fact: "damaged bundles push nothing out, however many they are",
    bundles: ["manual-0", "daily-1!", "daily-2!", "daily-3!", "daily-4"],
    justVerified: "manual-0",
    deleted: [],
  },
  {
    fact: "a damaged bundle goes once enough newer whole ones exist",
    bundles: ["daily-1", "daily-2", "daily-3!"],
    deleted: ["daily-3!"],
  },
  {
    fact: "bundles found damaged later leave their places to the whole ones behind them",
    bundles: ["daily-1", "daily-2!", "daily-3!", "daily-4", "daily-5", "daily-6!"],
    deleted: ["daily-6!", "daily-5"],
  },
  {
    fact: "the only whole bundle of a label stays behind newer damaged ones",
    bundles: ["daily-0", "pre-restore-1!", "pre-restore-2!", "pre-restore-3", "pre-restore-4!"],
    deleted: ["pre-restore-4!"],
  },
  {
    fact: "a label whose bundles are all damaged loses none of them",
    bundles: ["daily-0", "pre-migrate-1!", "pre-migrate-2!", "pre-migrate-3!"],
    deleted: [],
  },
  {
    fact: "nothing goes when no bundle was read back",
    bundles: ["daily-1", "daily-2", "daily-3"],
    justVerified: "",
    deleted: [],
  },
  {
    fact: "nothing goes when the bundle just taken is not whole",
    bundles: ["daily-1!", "daily-2", "daily-3", "daily-4"],
    justVerified: "daily-1!",
    deleted: [],
  },
  {
    fact: "nothing goes when the bundle just taken is not in the folder",
    bundles: ["daily-2", "daily-3", "daily-4"],
    justVerified: "daily-1",
    deleted: [],
  },
  {
    fact: "a bundle that is being restored stays",
    bundles: ["daily-1", "daily-2", "daily-3"],
    inUse: ["daily-3"],
    deleted: [],
  },
  {
    fact: "a bundle from the future stays and does not count",
    bundles: ["daily--5", "daily-1", "daily-2", "daily-3"],
    justVerified: "daily-1",
    deleted: ["daily-3"],
  },
  {
    fact: "the bundle just taken stays although the clock was set back behind others",
    bundles: ["daily-1", "daily-2", "daily-9"],
    justVerified: "daily-9",
    deleted: [],
  },
];

describe("which bundles are deleted", () => {
  for (const { fact, bundles, justVerified, inUse = [], deleted } of table) {
    test(fact, () => {
      const observed = {
        bundles: bundles.map(bundle),
        keep,
        now,
        justVerified: justVerified ?? bundles[0],
        inUse,
      };
      assert.deepEqual(decideDeletions(observed), deleted);
    });
  }

  test("of any folder the newest whole bundle of each label stays, even with nothing to keep", () => {
    const names = ["daily", "offsite", "pre-restore"].flatMap((label) =>
      [0, 1, 2, 3].flatMap((age) => [`${label}-${age}`, `${label}-${age + 10}!`]),
    );
    for (const justVerified of names) {
      const bundles = names.map(bundle);
      const none = { ...keep, daily: 0, offsite: 0 };
      const gone = decideDeletions({ bundles, keep: none, now, justVerified, inUse: [] });
      for (const name of ["daily-0", "offsite-0", "pre-restore-0"]) assert.ok(!gone.includes(name), name);
    }
  });
});
