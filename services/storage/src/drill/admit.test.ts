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
  ["nobody starts a second one on the same server", [drill("survival", true)], 60, 60],
  ["an owner waits an hour after the last one of the server", [drill("survival", false, 50)], 600, undefined],
  ["an owner starts one after that hour", [drill("survival", false, 60)], undefined, undefined],
  ["one of another server leaves room for one more", [drill("other", true)], undefined, undefined],
  ["two of other servers leave room for staff alone", [drill("a", true), drill("b", true)], 60, undefined],
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
