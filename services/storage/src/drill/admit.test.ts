import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decideDrillWait } from "./admit.ts";

const now = Date.parse("2026-01-01T12:00:00.000Z");
const limits = { atOnce: 2, cooldownMs: 3_600_000 };
const drill = (server: string, isUnderWay: boolean, minutesAgo = 1) => ({
  server,
  isUnderWay,
  at: new Date(now - minutesAgo * 60_000),
});
type Recent = ReturnType<typeof drill>[];

const table: [name: string, recent: Recent, owner: number | undefined, byStaff: number | undefined][] = [
  ["the first drill starts", [], undefined, undefined],
  ["a second drill on the same server is rejected for everybody", [drill("survival", true)], 60, 60],
  [
    "an owner is rejected within an hour of the server's last drill",
    [drill("survival", false, 50)],
    600,
    undefined,
  ],
  ["an owner may start one after that hour", [drill("survival", false, 60)], undefined, undefined],
  ["while one other server has a drill, another may start", [drill("other", true)], undefined, undefined],
  [
    "while two other servers have drills, only staff may start one",
    [drill("a", true), drill("b", true)],
    60,
    undefined,
  ],
];

describe("whether another drill may start", () => {
  for (const [name, recent, owner, byStaff] of table) {
    test(name, () => {
      const wait = (isStaff: boolean) =>
        decideDrillWait(recent, { server: "survival", isStaff, now }, limits);
      assert.deepEqual([wait(false), wait(true)], [owner, byStaff]);
    });
  }
});
