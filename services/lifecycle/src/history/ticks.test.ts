import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Fault } from "@svc/proto";
import { aServer, emptyRunning } from "../testing/observed.ts";
import { createTicks, parseTicks } from "./ticks.ts";

describe("ticks are read from", () => {
  const cases: Record<string, [string, number | undefined]> = {
    "Paper, the mean of five minutes": ["§6TPS from last 1m, 5m, 15m: §a20.0, §a19.87, §a*20.0", 19.87],
    "Paper above its rate": ["TPS from last 1m, 5m, 15m: *20.0, *20.0, 20.0", 20],
    "Purpur, which has four means": ["TPS from last 5s, 1m, 5m, 15m: 1.0, 2.0, 3.5, 4.0", 3.5],
    "Spigot with more lines": [
      "§6TPS from last 1m, 5m, 15m: §a18.1, §a17.2, §a20.0\n§6Current Memory Usage: §a512/1024 mb",
      17.2,
    ],
    "the game, slower than its target": [
      "The game is running normally\nTarget tick rate: 20.0 per second.\nAverage time per tick: 80.0ms (Target: 50.0ms)",
      12.5,
    ],
    "the game, which never runs above its target": [
      "Target tick rate: 20.0 per second.\nAverage time per tick: 3.1ms (Target: 50.0ms)",
      20,
    ],
    Forge: ["Dim overworld: 20.000 TPS (0.1 ms/tick)\nOverall: 19.5 TPS (51.2 ms/tick)", 19.5],
    "older Forge": ["Overall: Mean tick time: 0.512 ms. Mean TPS: 20.000", 20],
    "Forge with a comma": ["Overall: 19,500 TPS (51,2 ms/tick)", 19.5],
    "an unknown command": ["Unknown or incomplete command, see below for error\ntps<--[HERE]", undefined],
    "an empty reply": ["", undefined],
    "no number": ["TPS from last 1m, 5m, 15m: NaN, NaN, NaN", undefined],
    "more than any server does": ["TPS from last 5m: 99999", undefined],
    "a reply of megabytes": [`${"TPS from last ".repeat(100_000)}: 20`, undefined],
  };
  for (const [name, [reply, expected]] of Object.entries(cases))
    test(name, () => assert.equal(parseTicks(reply), expected));
});

const server = (name: string, readySignalAt = "2026-03-02T10:00:00.000Z") => {
  const base = aServer();
  return { ...base, metadata: { ...base.metadata, name }, status: { ...emptyRunning, readySignalAt } };
};

function openTicks(replies: Record<string, string>) {
  const asked: string[] = [];
  const ticks = createTicks({
    concurrency: 2,
    rcon: {
      run: async ({ metadata: { name } }, command) => {
        asked.push(`${name}: ${command}`);
        if (name === "broken") throw new Fault("unavailable");
        return replies[`${name}: ${command}`] ?? "Unknown or incomplete command";
      },
    },
  });
  const read = (...servers: ReturnType<typeof server>[]) => {
    asked.length = 0;
    return ticks.read(servers, new AbortController().signal);
  };
  return { read, asked };
}

const running = "Target tick rate: 20.0 per second.\nAverage time per tick: 3.1ms";

test("the command that a server answers is found once for each of its runs", async () => {
  const { read, asked } = openTicks({ "game: tick query": running });
  assert.deepEqual(await read(server("game")), new Map([["game", 20]]));
  assert.deepEqual(asked, ["game: tps", "game: tick query"]);
  await read(server("game"));
  assert.deepEqual(asked, ["game: tick query"]);
  await read(server("game", "2026-03-02T11:00:00.000Z"));
  assert.equal(asked[0], "game: tps", "it may be another image now");
});

test("a server that answers none is asked again only after its next start", async () => {
  const { read, asked } = openTicks({});
  assert.deepEqual(await read(server("silent")), new Map());
  assert.equal(asked.length, 4);
  await read(server("silent"));
  assert.deepEqual(asked, []);
  await read();
  await read(server("silent", "2026-03-02T11:00:00.000Z"));
  assert.equal(asked.length, 4);
});

test("a server that cannot be reached keeps no other one from being read, and is asked again", async () => {
  const { read, asked } = openTicks({ "game: tick query": running });
  const rates = await read(server("broken"), server("game"), server("broken"));
  assert.deepEqual(rates, new Map([["game", 20]]));
  await read(server("broken"));
  assert.deepEqual(asked, ["broken: tps"]);
});
