import assert from "node:assert/strict";
import { test } from "node:test";
import { type BackupStatus, type Bundle, problemsOf } from "./bundle-view.ts";

const at = "2026-11-23T03:30:00Z";
const bundle: Bundle = { name: "db-20261123T033000Z-daily.tar", at, label: "daily", size_bytes: 1 };
const last = { ...bundle, daily_at: at };
const rehearsal = { bundle: bundle.name, at, succeeded: true, duration_seconds: 2, rows: 12 };
const fine: BackupStatus = { last, stale: false, max_age_seconds: 93_600, rehearsal, bundles: [bundle] };

for (const [sentence, given, problems] of [
  ["a fresh, rehearsed bundle leaves nothing to do", {}, []],
  ["before the first bundle nothing is late", { last: null, stale: true, bundles: [] }, ["none-yet"]],
  ["an old daily bundle is stale", { stale: true }, ["stale"]],
  [
    "a bundle by hand before the first night is not a late one",
    { last: { ...bundle, label: "manual" }, stale: true, bundles: [{ ...bundle, label: "manual" }] },
    ["no-daily"],
  ],
  [
    "with damaged bundles alone it is stale as well",
    { last: null, stale: true, bundles: [{ ...bundle, damage: "cut off" }] },
    ["stale", "damaged"],
  ],
  ["a failed rehearsal is said", { rehearsal: { ...rehearsal, succeeded: false } }, ["rehearsal-failed"]],
  ["so are missing server objects", { last: { ...last, servers_error: "timeout" } }, ["without-servers"]],
] as readonly (readonly [string, Partial<BackupStatus>, string[]])[]) {
  test(sentence, () => assert.deepEqual(problemsOf({ ...fine, ...given }), problems));
}
