import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotation } from "../cluster/resource.ts";
import { aServer, now } from "../testing/observed.ts";
import { decideRestart, restartAt, restartCommand } from "./restart-notice.ts";

const noticeMs = 30_000;
const players = (online: number) => ({ players: { online, max: 20 } });
type Status = NonNullable<ReturnType<typeof aServer>["status"]>;
const running = (status: Status = {}, spec: Parameters<typeof aServer>[0] = {}) => ({
  ...aServer(spec),
  status: { phase: "Running" as const, ...status },
});
const asked = (at: string) => ({
  ...aServer({}, { annotations: { [annotation.restart]: at } }),
  status: { phase: "Running" as const, ...players(2) },
});
const later = new Date(now + 5_000).toISOString();

describe("when a server restarts", () => {
  const rows: [fact: string, server: ReturnType<typeof aServer>, decision: unknown][] = [
    ["at once with nobody on", running(players(0)), { kind: "restart", at: now, tells: false }],
    [
      "after a notice with somebody on",
      running(players(2)),
      { kind: "restart", at: now + noticeMs, tells: true },
    ],
    [
      "after a notice while players cannot be counted",
      running(),
      { kind: "restart", at: now + noticeMs, tells: true },
    ],
    [
      "at once where nobody can be told",
      running(players(2), { rcon: { enabled: false } }),
      { kind: "restart", at: now, tells: false },
    ],
    ["not again while one is pending", asked(later), { kind: "pending", at: now + 5_000 }],
    ["not while it starts", { ...aServer(), status: { phase: "Starting" } }, { kind: "not-running" }],
    ["not after it failed", { ...aServer(), status: { phase: "Failed" } }, { kind: "not-running" }],
    [
      "not while it is asleep",
      { ...aServer({ desiredState: "Stopped" }), status: { phase: "Stopped" } },
      { kind: "not-running" },
    ],
    ["not once it is to stop", running(players(2), { desiredState: "Stopped" }), { kind: "not-running" }],
    ["not before a pass has seen it", aServer(), { kind: "not-running" }],
  ];
  for (const [fact, server, decision] of rows)
    test(fact, () => assert.deepEqual(decideRestart(server, { now, noticeMs }), decision));
});

test("a request that is no time is due at once", () => {
  assert.deepEqual(
    [restartAt(aServer()), restartAt(asked("yes")), restartAt(asked(later))],
    [undefined, 0, now + 5_000],
  );
});

test("players are told in both languages", () => {
  assert.match(restartCommand(30), /^tellraw @a .*restarts in 30 seconds\..*30 秒后重启/);
});
