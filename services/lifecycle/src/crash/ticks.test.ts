import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isOfWatchdog, tickSignsOf } from "./ticks.ts";

/** As Paper prints them while a plugin blocks a tick; the console of newer ones does not name threads. */
const paper =
  `[22:41:38 ERROR]: --- DO NOT REPORT THIS TO PAPER - THIS IS NOT A BUG OR A CRASH  - 1.21.4-138-abc (MC: 1.21.4) ---
[22:41:38 ERROR]: The server has not responded for 10 seconds! Creating thread dump
[22:41:38 ERROR]: ------------------------------
[22:41:38 ERROR]: Server thread dump (Look for plugins here before reporting to Paper!):
[22:41:38 ERROR]: ------------------------------
[22:41:38 ERROR]: Current Thread: Server thread
[22:41:38 ERROR]: 	PID: 38 | Suspended: false | Native: false | State: TIMED_WAITING
[22:41:38 ERROR]: 	Stack:
[22:41:38 ERROR]: 		java.base@21.0.5/java.lang.Thread.sleep0(Native Method)
[22:41:38 ERROR]: 		Blocker-1.0.jar//com.example.Blocker.onTick(Blocker.java:17)
[22:41:38 ERROR]: 		net.minecraft.server.MinecraftServer.runServer(MinecraftServer.java:1197)
[22:41:38 ERROR]: --- DO NOT REPORT THIS TO PAPER - THIS IS NOT A BUG OR A CRASH ---`.split("\n");
const named = [
  "[23:48:24] [Paper Watchdog Thread/ERROR]: anything at all",
  "[10:28:29] [Server Watchdog/FATAL]: A single server tick took 60.00 seconds (should be max 0.05)",
];
const alive = [
  "[22:41:28] [Server thread/WARN]: Can't keep up! Is the server overloaded? Running 21109ms or 422 ticks behind",
  "[12:00:00] [Worker-Main-1/INFO]: Preparing spawn area: 42%",
  "[12:00:00 INFO]: Saved the game",
  "[12:00:00 INFO]: <Notch> The server has not responded for 10 seconds! Creating thread dump",
  "[12:00:00] [Async Chat Thread - #0/INFO]: <Notch> [12:00:00] [Server Watchdog/FATAL]: x",
  "[12:00:00 ERROR]: java.lang.NullPointerException: null",
  "[12:00:00 INFO]: Loaded 3 (of 4)",
  "",
];

for (const line of [...paper, ...named])
  test(`is of a watchdog: ${line}`, () => assert.ok(isOfWatchdog(line)));
for (const line of alive) test(`is a sign of life: ${line}`, () => assert.ok(!isOfWatchdog(line)));

describe("what a log says of the game's clock", () => {
  test("is the most that it was behind", () =>
    assert.deepEqual(
      tickSignsOf([
        ...alive,
        "[12:00:00 WARN]: Can't keep up! Did the system time change, or is the server overloaded? Running 2010ms behind, skipping 40 tick(s)",
        "[12:00:01 INFO]: <Notch> Can't keep up! Is the server overloaded? Running 99999ms or 9 ticks behind",
      ]),
      { behindMs: 21_109, hasWatchdog: false },
    ));
  test("is whether a watchdog spoke", () => {
    assert.deepEqual(tickSignsOf(paper), { behindMs: undefined, hasWatchdog: true });
    assert.equal(tickSignsOf(named.slice(1)).hasWatchdog, true);
  });
  test("is nothing where it says nothing", () =>
    assert.deepEqual(tickSignsOf(alive.slice(1)), { behindMs: undefined, hasWatchdog: false }));
});

test("a hostile log is read in linear time", () => {
  const lines = Array.from(
    { length: 2_000 },
    (_, n) => `${"[a] ".repeat(8)}${"a.".repeat(200)}(${"b".repeat(n % 300)}`,
  );
  const before = process.cpuUsage();
  tickSignsOf(lines);
  for (const line of lines) isOfWatchdog(line);
  assert.ok(process.cpuUsage(before).user < 3_000_000);
});
