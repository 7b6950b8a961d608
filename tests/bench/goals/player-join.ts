// A player's whole way into a sleeping server: from the connection to the proxy, under the server's own
// address, through gate, lobby, wake and queue until they stand in its world, on a real local stack. Anchor: the same
// game program started bare until RCON lets us in, in turn with it, so that the difference is all that svc and the
// join itself add. The slowest counts, as in WAKE.

import { once } from "node:events";
import { until } from "@svc/local-stack/testing";
import { type Bot, createBot } from "mineflayer";
import { send } from "../../flow/stack.ts";
import type { Bench, Goal } from "../harness/bench.ts";
import { startBareGame } from "../harness/game.ts";
import type { BenchStack } from "../harness/stack.ts";
import { median } from "../harness/statistics.ts";

const name = "Waker";
const joinTimeoutMs = 120_000;

type Visit = { bot: Bot; chat: string[]; inGame: Promise<number>; leave: () => Promise<void> };

/** Connects as a game does whose player typed `host`. */
function connect(stack: BenchStack, host: string): Visit {
  const { game } = stack.file();
  const startedAt = performance.now();
  const bot = createBot({
    ...{ host: game.host, port: game.port, username: name, version: "1.21.4", auth: "offline" },
    ...{ fakeHost: host, logErrors: false, checkTimeoutInterval: joinTimeoutMs },
  });
  bot._client.setMaxListeners(50);
  const chat: string[] = [];
  bot.on("messagestr", (line) => void chat.push(line));
  const refused = new Promise<never>((_, reject) => {
    bot.once("kicked", (reason) => reject(new Error(`${name} was kicked: ${JSON.stringify(reason)}`)));
    bot.on("error", reject);
  });
  const leave = async () => {
    const ended = once(bot, "end");
    bot.quit();
    await ended;
  };
  const signal = AbortSignal.timeout(joinTimeoutMs);
  const late = once(signal, "abort").then(() => Promise.reject(new Error(`${name} did not arrive: ${chat}`)));
  const inGame = Promise.race([arrival(bot), refused, late]).then((at) => at - startedAt);
  // Who only comes to be linked waits for none of them.
  for (const promise of [refused, late, inGame]) promise.catch(() => {});
  return { bot, chat, leave, inGame };
}

/** When the player stands in the game's own world: gate and lobby hold everybody in adventure mode, the game does not. */
function arrival(bot: Bot): Promise<number> {
  return new Promise((resolve) => {
    let isGame = false;
    bot._client.on("login", (packet: { worldState?: { gamemode?: string } }) => {
      isGame = packet.worldState?.gamemode !== "adventure";
    });
    bot._client.on("position", () => {
      if (isGame) resolve(performance.now());
    });
  });
}

/** Redeems the code that the gate shows, as a person in a browser does who has no account yet. */
async function link(stack: BenchStack): Promise<void> {
  const { chat, leave } = connect(stack, stack.file().root_domain);
  const line = await until(
    () => chat.find((text) => /[A-Z2-9]{8}$/.test(text)),
    joinTimeoutMs,
    "the code at the gate",
  );
  const { external_base_url, panel_host } = stack.file();
  const host = `${panel_host.split(":")[0]}:${new URL(external_base_url).port}`;
  const url = new URL("/api/v1/auth/bind", external_base_url).href;
  const body = { code: /[A-Z2-9]{8}$/.exec(line)?.[0] };
  const { status } = await send(url, { method: "POST", headers: { host }, body });
  if (status !== 200) throw new Error(`redeeming the code of the gate answered ${status}`);
  await until(
    () => chat.some((text) => text.includes("/menu") || text.includes("lobby!")),
    joinTimeoutMs,
    "the lobby",
  );
  await leave();
}

async function joinOnce(stack: BenchStack, server: string): Promise<number> {
  const phase = async () => {
    const { body } = await stack.internal("GET", `/api/v1/internal/servers/${server}/status`);
    return (body as { phase?: string }).phase;
  };
  await until(async () => (await phase()) === "Stopped", joinTimeoutMs, `${server} to sleep`);
  const visit = connect(stack, `${server}.${stack.file().root_domain}`);
  const tookMs = await visit.inGame;
  await visit.leave();
  await stack.external("POST", `/api/v1/servers/${server}/stop`);
  await until(async () => (await phase()) === "Stopped", joinTimeoutMs, `${server} to sleep again`);
  return tookMs;
}

async function joins(bench: Bench, stack: BenchStack): Promise<{ inMs: number[]; bareMs: number[] }> {
  const times = bench.options.isQuick ? 2 : Math.max(5, bench.options.rounds);
  const servers = Array.from({ length: times }, (_, index) => `bench-in-${index + 1}`);
  for (const server of servers) await stack.ensureServer(server);
  await link(stack);
  const [inMs, bareMs]: [number[], number[]] = [[], []];
  for (const server of servers) {
    bareMs.push(await startBareGame());
    inMs.push(await joinOnce(stack, server));
  }
  return { inMs, bareMs };
}

export const playerJoin: Goal = {
  name: "WAKE-IN",
  title: "from a player's connection to the world of a server that slept",
  run: async (bench) => {
    const { inMs, bareMs } = await joins(bench, await bench.stack());
    const bare = median(bareMs);
    const seconds = (list: readonly number[]) => list.map((ms) => (ms / 1_000).toFixed(2)).join(" ");
    return [
      {
        ...{ goal: "WAKE-IN", what: "connection -> in the world beyond the bare start, p95", unit: "s" },
        ours: (Math.max(...inMs) - bare) / 1_000,
        limit: { bound: "at most", of: "figure", goal: 2 },
        note: `joins ${seconds(inMs)} s; bare ${seconds(bareMs)} s`,
      },
      {
        ...{ goal: "WAKE-IN", what: "connection -> in the world beyond the bare start, median", unit: "s" },
        ours: (median(inMs) - bare) / 1_000,
      },
    ];
  },
};
