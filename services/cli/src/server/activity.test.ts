import assert from "node:assert/strict";
import { test } from "node:test";
import { activityText } from "./activity.ts";

const at = "2026-11-28T16:00:00.000Z";
const entries = [
  { ...{ id: 3, at, action: "server.start" }, by: "account", name: "bob", payload: {} },
  { ...{ id: 2, at, action: "schedule.run" }, by: "svc", payload: { result: "ok", steps: ["ok", "failed"] } },
  { ...{ id: 1, at, action: "file.write" }, by: "account", payload: { path: "a.yml" } },
] as const;

test("activity is who did what with which facts, and says when there is more", () => {
  const text = activityText("survival", { entries: [...entries], isCut: true });
  assert.equal(
    text,
    `AT                   BY               WHAT          DETAIL
2026-11-28T16:00:00  bob              server.start
2026-11-28T16:00:00  svc              schedule.run  result=ok steps=["ok","failed"]
2026-11-28T16:00:00  deleted account  file.write    path=a.yml
There are earlier entries: add --all.`,
  );
  const none = activityText("survival", { entries: [], isCut: false });
  assert.equal(none, "Nothing was done to survival that is kept.");
});

test("an entry of shared access says whose it is, and what was given and taken", () => {
  const entry = { id: 1, at, action: "server.access.change", by: "you", payload: {} } as const;
  const access = {
    ...{ account: "bob", given: ["power"], taken: ["command"], ends_at: { was: "2026-12-01T00:00:00Z" } },
    limits: [
      { limit: "read_paths", was: ["world"], now: ["plugins", "a b"] },
      { limit: "deny_commands", was: ["op"] },
    ],
  };
  const [, line = ""] = activityText("survival", { entries: [{ ...entry, access }], isCut: false }).split(
    "\n",
  );
  assert.equal(
    line.replace(/.*server\.access\.change +/, ""),
    "account=bob given=power taken=command read_paths=plugins,a b (was world) deny_commands=all (was op) ends=never (was 2026-12-01T00:00:00Z)",
  );
});
