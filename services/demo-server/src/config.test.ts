import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { loadConfig } from "./config.ts";
import { ensureProperties, readProperties, setProperty } from "./properties.ts";

const dir = mkdtempSync(join(tmpdir(), "svc-config-"));
after(() => rmSync(dir, { recursive: true }));

test("an empty environment means the image's own places and vanilla's defaults", () => {
  assert.deepEqual(loadConfig({}), {
    version: "1.21.4",
    dataDir: "/data",
    host: "127.0.0.1",
    gamePort: 25_565,
    rconPort: 25_575,
    maxPlayers: 20,
    hasFaults: false,
    motd: "A Minecraft Server",
  });
});

test("/data is where the world volume is mounted", () => {
  assert.equal(loadConfig({ SVC_MOUNT_WORLD: dir }).dataDir, dir);
  assert.equal(loadConfig({ SVC_MOUNT_WORLD: dir, DATA_DIR: "/data" }).dataDir, dir);
  assert.equal(loadConfig({ SVC_MOUNT_WORLD: "/elsewhere", DATA_DIR: dir }).dataDir, dir);
});

test("server.properties counts where the environment says nothing", () => {
  writeFileSync(join(dir, "server.properties"), "#note\nmotd=Caf\\u00e9 \\\\ more\nmax-players=7\n");
  assert.equal(loadConfig({ DATA_DIR: dir }).motd, "Café \\ more");
  assert.equal(loadConfig({ DATA_DIR: dir }).maxPlayers, 7);
  assert.equal(loadConfig({ DATA_DIR: dir, MAX_PLAYERS: "3", MOTD: "mine" }).maxPlayers, 3);
  assert.equal(loadConfig({ DATA_DIR: dir, MAX_PLAYERS: "3", MOTD: "mine" }).motd, "mine");
});

test("a version is one that the gate and the lobby speak", () => {
  assert.equal(loadConfig({ GAME_VERSION: "26.1" }).version, "26.1");
  for (const wanted of ["1.20.4", "1.21", "newest", "1.21.4 "]) {
    assert.throws(
      () => loadConfig({ GAME_VERSION: wanted }),
      /GAME_VERSION is .*; set it to one of 1.20.6, /,
    );
  }
});

test("a number that can't be one is refused with its name", () => {
  assert.throws(() => loadConfig({ GAME_PORT: "25565x" }), /GAME_PORT is "25565x"/);
  assert.throws(() => loadConfig({ RCON_PORT: "70000" }), /RCON_PORT is "70000"/);
  assert.throws(() => loadConfig({ MAX_PLAYERS: "0" }), /MAX_PLAYERS is "0"/);
});

test("the owner's server.properties is kept, and one key can be changed", () => {
  ensureProperties(dir, { motd: "new" });
  assert.equal(readProperties(dir).get("max-players"), "7");
  setProperty(dir, "white-list", "true");
  setProperty(dir, "max-players", "8");
  const text = readFileSync(join(dir, "server.properties"), "utf8");
  assert.equal(text, "#note\nmotd=Caf\\u00e9 \\\\ more\nmax-players=8\nwhite-list=true\n");
});
