import assert from "node:assert/strict";
import { test } from "node:test";
import { callsAtOnce, enterTimeoutMs, loadConfig, oneByOneMs, requestTimeoutMs } from "./config.ts";

const complete = {
  SVC_API_BASE_URL: "http://svc:8081",
  SVC_SERVICE_TOKEN: "t",
  SVC_ROOT_DOMAIN: "example.com",
};

test("an empty environment means the documented numbers, and a flow that is off", () => {
  const { warnings, ...config } = loadConfig({});
  assert.deepEqual(config, {
    host: "127.0.0.1",
    gamePort: 25_565,
    healthPort: 8_080,
    maxPlayers: 5_000,
    lobbyServer: "lobby",
    rules: {
      pollMs: 1_000,
      loginTimeoutMs: 600_000,
      backoffMs: [1_000, 2_000, 4_000, 8_000],
      outageWindowMs: 60_000,
      releaseWindowMs: 120_000,
    },
  });
  assert.match(warnings.join(), /SVC_API_BASE_URL, SVC_SERVICE_TOKEN, SVC_PANEL_HOSTNAME or SVC_ROOT_DOMAIN/);
  assert.equal(requestTimeoutMs, 10_000);
  assert.equal(callsAtOnce, 64);
  assert.equal(oneByOneMs, 60_000);
  assert.equal(enterTimeoutMs, 30_000);
});

test("the panel's address is the named one, else console.<root domain>", () => {
  assert.equal(loadConfig(complete).flow?.panelHost, "console.example.com");
  const named = { ...complete, SVC_PANEL_HOSTNAME: "panel.example.org" };
  assert.equal(loadConfig(named).flow?.panelHost, "panel.example.org");
  assert.equal(loadConfig({ ...complete, SVC_ROOT_DOMAIN: "" }).flow, undefined);
});

const timeouts: [string, number][] = [
  ["600", 600],
  ["5", 30],
  ["0", 30],
  ["99999", 3_600],
  ["-4", 600],
  ["ten", 600],
  ["", 600],
];
for (const [text, seconds] of timeouts) {
  test(`a login timeout of "${text}" means ${seconds} s`, () => {
    assert.equal(loadConfig({ SVC_LOGIN_TIMEOUT_SECONDS: text }).rules.loginTimeoutMs, seconds * 1_000);
  });
}

test("a bad value falls back to its default and is named", () => {
  const config = loadConfig({ ...complete, SVC_HEALTH_PORT: "80a", GAME_PORT: "70000", MAX_PLAYERS: "0" });
  assert.equal(config.healthPort, 8_080);
  assert.equal(config.gamePort, 25_565);
  assert.equal(config.maxPlayers, 5_000);
  assert.deepEqual(
    config.warnings.map((line) => line.split(" ")[0]),
    ["GAME_PORT", "SVC_HEALTH_PORT", "MAX_PLAYERS"],
  );
  assert.equal(loadConfig({ ...complete, SVC_API_BASE_URL: "ftp://x" }).flow, undefined);
});
