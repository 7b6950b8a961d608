import assert from "node:assert/strict";
import { test } from "node:test";
import { accessPresets, memberRights } from "@svc/proto";
import { allRights, presets } from "../access/presets.ts";
import { draftOf, grantOf, isEndAhead, newDraft, withPreset, withRight } from "./draft.ts";

const byName = (texts: readonly string[]) => [...texts].sort();

test("rights and presets are those of the contracts", () => {
  assert.deepEqual(byName(allRights), byName(memberRights));
  assert.deepEqual(Object.keys(presets), Object.keys(accessPresets));
  for (const [name, { rights, ...limits }] of Object.entries(accessPresets)) {
    const ours = presets[name as keyof typeof presets];
    assert.deepEqual(byName(ours.rights), byName(rights), name);
    const { rights: _, ...ourLimits } = ours;
    assert.deepEqual(ourLimits, limits, name);
  }
});

test("a grant is the same after it was shown and saved", () => {
  const ends_at = grantOf({ ...newDraft, lastDay: "2030-02-28" }).ends_at ?? "";
  const grants = [
    { rights: [...presets.helper.rights], limits: presets.helper.limits },
    { rights: [...allRights] },
    {
      rights: ["see", "files.read", "files.write"] as const,
      limits: { read_paths: ["plugins"], write_paths: ["plugins/Essentials", "world/datapacks"] },
      ends_at,
    },
    { rights: ["see", "backups.download"] as const, limits: { read_paths: ["plugins"] } },
    { rights: ["see"] as const, ends_at: "2030-02-28T12:00:00.000Z" },
  ];
  for (const grant of grants) assert.deepEqual(grantOf(draftOf(grant)), grant);
});

test("limits go with their right, and `see` never does", () => {
  const helper = withPreset(newDraft, "helper");
  const without = withRight(withRight(helper, "command", false), "see", false);
  assert.equal(without.preset, "own");
  assert.deepEqual(grantOf(without), { rights: ["see", "console.read", "players"] });
  assert.deepEqual(grantOf(withRight(without, "command", true)).limits, presets.helper.limits);
});

test("a day counts to its end, on the clock of the device", () => {
  const noon = new Date(2030, 1, 28, 12).getTime();
  for (const [lastDay, isAhead] of [
    ["", true],
    ["2030-02-28", true],
    ["2030-02-27", false],
    ["2030-03-01", true],
  ] as const)
    assert.equal(isEndAhead({ lastDay }, noon), isAhead, lastDay);
});
