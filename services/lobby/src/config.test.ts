import assert from "node:assert/strict";
import { test } from "node:test";
import { answerTimeoutMs, enterTimeoutMs, loadConfig, redrawMs, refreshMs, requestRate } from "./config.ts";

test("an empty environment means the documented numbers", () => {
  assert.deepEqual(loadConfig({}), {
    host: "127.0.0.1",
    gamePort: 25_565,
    maxPlayers: 5_000,
    warnings: [],
  });
  assert.deepEqual(requestRate, { burst: 90, perSecond: 8, reserved: 16 });
  assert.equal(refreshMs, 10_000);
  assert.equal(enterTimeoutMs, 30_000);
  assert.equal(redrawMs, 250);
  assert.equal(answerTimeoutMs, 5_000);
});

test("secrets come out of a file, and from nowhere else", () => {
  assert.equal(typeof loadConfig({ SVC_FORWARDING_SECRET_FILE: "/secret" }).forwardingSecret, "function");
  assert.equal(loadConfig({ SVC_FORWARDING_SECRET_FILE: " " }).forwardingSecret, undefined);
  assert.equal(loadConfig({ SVC_FORWARDING_SECRET: "s" }).forwardingSecret, undefined);
});

test("a bad value falls back to its default and is named", () => {
  const config = loadConfig({ GAME_PORT: "x", MAX_PLAYERS: "0" });
  assert.equal(config.gamePort, 25_565);
  assert.equal(config.maxPlayers, 5_000);
  assert.deepEqual(
    config.warnings.map((line) => line.split(" ")[0]),
    ["GAME_PORT", "MAX_PLAYERS"],
  );
});
