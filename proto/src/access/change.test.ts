import assert from "node:assert/strict";
import { test } from "node:test";
import { type AccessChange, compareGrants, type RecordedGrant } from "./change.ts";

const nothing: AccessChange = { given: [], taken: [], limits: [] };
const helper: RecordedGrant = {
  ...{ rights: ["see", "command"], limits: { allow_commands: ["list"] } },
  ends_at: "2026-12-01T00:00:00Z",
};
const cases: [string, Parameters<typeof compareGrants>[0], Partial<AccessChange>][] = [
  ["nothing of two that are equal", { was: helper, now: { ...helper } }, {}],
  [
    "all of an access that is given",
    { now: helper },
    {
      given: ["see", "command"],
      limits: [{ limit: "allow_commands", now: ["list"] }],
      ends_at: { now: "2026-12-01T00:00:00Z" },
    },
  ],
  [
    "all of an access that is taken",
    { was: helper },
    {
      taken: ["see", "command"],
      limits: [{ limit: "allow_commands", was: ["list"] }],
      ends_at: { was: "2026-12-01T00:00:00Z" },
    },
  ],
  [
    "of a change what is different",
    {
      was: helper,
      now: { rights: ["see", "files.read"], limits: { read_paths: ["plugins"], allow_commands: ["list"] } },
    },
    {
      ...{ given: ["files.read"], taken: ["command"], limits: [{ limit: "read_paths", now: ["plugins"] }] },
      ends_at: { was: "2026-12-01T00:00:00Z" },
    },
  ],
  [
    "both lists of a limit that changed",
    { was: helper, now: { ...helper, limits: { allow_commands: ["list", "say"] } } },
    { limits: [{ limit: "allow_commands", was: ["list"], now: ["list", "say"] }] },
  ],
];
for (const [name, pair, expected] of cases)
  test(`says ${name}`, () => assert.deepEqual(compareGrants(pair), { ...nothing, ...expected }));
