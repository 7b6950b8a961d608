import assert from "node:assert/strict";
import { test } from "node:test";
import { decideFill, type Server } from "./decide.ts";

const idle = { autoStopEnabled: true, emptySecondsBeforeStop: 600 };
const rcon = { enabled: true, port: 25_575, secretRef: { name: "one-rcon", key: "password" } };
const off = { ...rcon, enabled: false };
const one: Server = { name: "one", isSystem: false, spec: {}, isStopped: true };

const table: [fact: string, server: Partial<Server>, userRcon: boolean, fill: object, skipped: number][] = [
  ["a server with both fields is left alone", { spec: { rcon, idle } }, true, {}, 0],
  [
    "auto-stop that is off stays off",
    { spec: { rcon, idle: { ...idle, autoStopEnabled: false } } },
    true,
    {},
    0,
  ],
  ["RCON that is off stays off, and nothing counts its players", { spec: { rcon: off } }, true, {}, 1],
  ["auto-stop is filled where RCON is on", { spec: { rcon } }, false, { idle }, 0],
  ["a running server gets auto-stop too", { spec: { rcon }, isStopped: false }, false, { idle }, 0],
  ["RCON is filled only when it is asked for", {}, false, {}, 2],
  ["with RCON comes auto-stop", {}, true, { rcon, idle }, 0],
  ["RCON of a running server waits for its stop", { isStopped: false }, true, {}, 2],
  ["the login gate and the lobby are none of it", { isSystem: true }, true, {}, 0],
];
for (const [fact, change, userRcon, fill, skipped] of table)
  test(fact, () => {
    const plan = decideFill({ ...one, ...change }, { userRcon });
    assert.deepEqual([plan.fill, plan.skipped.length], [fill, skipped]);
  });
