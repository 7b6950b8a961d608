import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Archive, type CopyState, lackingArchives, planArchives } from "./plan-archives.ts";

const at = "2026-11-23T12:00:00.000Z";
const archive = (about: Partial<Archive> = {}): Archive => ({
  id: "bk-1",
  archive: "survival-1.tar.zst",
  server: "survival",
  size_bytes: 100,
  sha256: "0".repeat(64),
  status: "present",
  created_at: at,
  expires_at: at,
  local: "whole",
  is_corrupt: false,
  ...about,
});

type Step = "send" | "record" | "clear";
const cases: [fact: string, about: Partial<Archive>, copy: CopyState, steps: Step[]][] = [
  ["a new archive is sent", {}, "none", ["send"]],
  ["a copy that was sent by a killed pass is recorded unsent", {}, "whole", ["record"]],
  ["a recorded copy is left alone", { offsite_at: at }, "whole", []],
  ["a copy that vanished is cleared and sent again", { offsite_at: at }, "none", ["clear", "send"]],
  ["a cut copy is cleared and sent again", { offsite_at: at }, "not_whole", ["clear", "send"]],
  ["a cut copy that was never recorded is sent again", {}, "not_whole", ["send"]],
  ["a file that is gone is not sent", { local: "missing" }, "none", []],
  [
    "a record without a copy is cleared, also without a file",
    { local: "missing", offsite_at: at },
    "none",
    ["clear"],
  ],
  ["a file of another size is not sent", { local: "other_size" }, "none", []],
  ["a file known to be damaged is not sent", { is_corrupt: true }, "none", []],
  ["the copy of a damaged file is recorded all the same", { is_corrupt: true }, "whole", ["record"]],
  ["an expired archive is not sent", { status: "expired" }, "none", []],
  ["nor recorded", { status: "expired" }, "whole", []],
  [
    "an expired archive whose copy vanished is cleared",
    { status: "expired", offsite_at: at },
    "none",
    ["clear"],
  ],
  [
    "a deleted archive keeps its record while its copy is there",
    { status: "deleted", offsite_at: at, local: "missing" },
    "whole",
    [],
  ],
  ["and loses it with the copy", { status: "deleted", offsite_at: at, local: "missing" }, "none", ["clear"]],
];

describe("what a pass does about an archive", () => {
  for (const [fact, about, copy, steps] of cases) {
    test(fact, () => {
      const plan = planArchives([archive(about)], () => copy);
      const found = (["send", "record", "clear"] as const).filter((step) => plan[step].length > 0);
      assert.deepEqual(found.sort(), [...steps].sort());
    });
  }

  test("small archives are sent first", () => {
    const sizes = [300, 100, 200].map((size_bytes, index) => archive({ id: `bk-${index}`, size_bytes }));
    const { send } = planArchives(sizes, () => "none");
    assert.deepEqual(
      send.map(({ size_bytes }) => size_bytes),
      [100, 200, 300],
    );
  });
});

test("present backups without a whole copy are named, others are not", () => {
  const states: Record<string, CopyState> = { "bk-1": "none", "bk-2": "not_whole", "bk-3": "whole" };
  const archives = [
    ...["bk-1", "bk-2", "bk-3"].map((id) => archive({ id })),
    archive({ id: "bk-4", status: "expired" }),
  ];
  const { missing, notWhole } = lackingArchives(archives, ({ id }) => states[id] ?? "none");
  assert.deepEqual([missing.map(({ id }) => id), notWhole.map(({ id }) => id)], [["bk-1"], ["bk-2"]]);
});
