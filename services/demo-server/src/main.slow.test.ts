import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { patience } from "@svc/local-stack/testing";
import { connectRcon, parsePlayerList, probe } from "@svc/rcon";
import protocol from "minecraft-protocol";
import type { Bot } from "mineflayer";
import { offlineUuid } from "./access/offline-uuid.ts";
import { joinGame, refusedJoin } from "./testing/bot.ts";
import { type DemoProcess, startProcess, temporaryDir } from "./testing/process.ts";

const { PATH, NODE_COMPILE_CACHE } = process.env;
const start = (dataDir: string, settings: Record<string, string> = {}) =>
  startProcess(dataDir, { PATH, NODE_COMPILE_CACHE, ...settings });
const rconOf = (port: number) => connectRcon({ host: "127.0.0.1", port, password: "test" });

async function walkEast(bot: Bot, blocks: number): Promise<void> {
  const goal = bot.entity.position.x + blocks;
  bot.setControlState("forward", true);
  while (bot.entity.position.x < goal) {
    // The server's word on where a player stands, which may come late, turns them too.
    await bot.look(-Math.PI / 2, 0, true);
    await once(bot, "move");
  }
  bot.clearControlStates();
  while (Math.abs(bot.entity.velocity.x) > 0.001) await once(bot, "physicsTick");
}

async function assertExit({ exited, output }: DemoProcess, code: number): Promise<void> {
  const ended = await exited;
  assert.deepEqual(ended, { code, signal: null }, `The server printed:\n${output.lines.join("\n")}`);
}

function forwardingBody(name: string): Buffer {
  const text = (value: string) => Buffer.concat([Buffer.of(value.length), Buffer.from(value)]);
  const uuid = Buffer.from(offlineUuid(name).replaceAll("-", ""), "hex");
  return Buffer.concat([Buffer.of(1), text("198.51.100.7"), uuid, text(name), Buffer.of(0)]);
}

test("a world and its players outlive stop, SIGTERM and a start behind a proxy", {
  timeout: 60_000 * patience,
}, async (t) => {
  await using dir = await temporaryDir();
  const places: { dug?: Bot["entity"]["position"]; stoodAt?: Bot["entity"]["position"] } = {};

  await t.test("a player digs, walks and is counted until stop sends everyone away", async () => {
    await using server = await start(dir.path, { MOTD: "first" });
    const { gamePort, rconPort } = await server.ready();
    await using rcon = await rconOf(rconPort);
    assert.equal(await rcon.command("list"), "There are 0 of a max of 20 players online: ");
    const { bot, commands } = await joinGame({ port: gamePort, name: "bob" });
    assert((await commands).includes("list") && !(await commands).includes("ban"));
    assert.equal(await rcon.command("list"), "There are 1 of a max of 20 players online: bob");

    const dug = bot.entity.position.floored().offset(-1, -1, 0);
    const block = bot.blockAt(dug);
    assert(block && block.name !== "air");
    await bot.dig(block, true);
    await walkEast(bot, 2);
    Object.assign(places, { dug, stoodAt: bot.entity.position.clone() });

    const heard = once(bot, "messagestr");
    const sent = once(bot._client, "system_chat");
    assert.equal(await rcon.command('tellraw @a {"text":"Stopping ","extra":["soon"],"color":"yellow"}'), "");
    assert.equal((await heard)[0], "Stopping soon");
    const [{ content }] = (await sent) as [{ content: { value: Record<string, unknown> } }];
    assert.deepEqual(content.value["color"], { type: "string", value: "yellow" });
    const gone = once(bot, "end");
    assert.equal(await rcon.command("stop"), "Stopping the server");
    await gone;
    await assertExit(server, 0);
    await server.output.line(/^\[\d\d:\d\d:\d\d INFO\]: bob joined the game$/);
    await server.output.line(/^\[\d\d:\d\d:\d\d INFO\]: bob left the game$/);
  });

  await t.test(
    "after a start the block is gone, the player stands where they stood, and SIGTERM saves",
    async () => {
      await using server = await start(dir.path);
      const { gamePort, rconPort } = await server.ready();
      const { bot } = await joinGame({ port: gamePort, name: "bob" });
      const { dug, stoodAt } = places;
      assert(dug && stoodAt);
      assert.equal(bot.blockAt(dug)?.name, "air");
      assert(bot.entity.position.distanceTo(stoodAt) < 0.5, `${bot.entity.position} is not ${stoodAt}`);

      await using rcon = await rconOf(rconPort);
      await rcon.command(`setblock ${dug.x} ${dug.y} ${dug.z} gold_block`);
      const gone = once(bot, "end");
      server.child.kill("SIGTERM");
      await gone;
      await assertExit(server, 0);
    },
  );

  await t.test("with a forwarding secret only a proxy that knows it brings players in", async () => {
    const secret = "proxy secret";
    const file = join(dir.path, "secrets");
    await writeFile(file, `the next\n${secret}\n`);
    await using server = await start(dir.path, { SVC_FORWARDING_SECRET_FILE: file });
    const { gamePort: port } = await server.ready();
    assert.match(await refusedJoin({ port, name: "mallory" }), /only accepts players from its proxy/);
    const forged = { secret: "guess", body: forwardingBody("bob") };
    assert.match(
      await refusedJoin({ port, name: "bob", forwarding: forged }),
      /only accepts players from its proxy/,
    );
    const { bot, leave } = await joinGame({
      port,
      name: "ignored",
      forwarding: { secret, body: forwardingBody("bob") },
    });
    assert.equal(places.dug && bot.blockAt(places.dug)?.name, "gold_block");
    await server.output.line(/ bob joined the game$/);
    await leave();
  });
});

test("bans and the whitelist keep players out, over starts too", {
  timeout: 60_000 * patience,
}, async (t) => {
  await using dir = await temporaryDir();

  await t.test("a banned player is sent away and refused until pardoned", async () => {
    await using server = await start(dir.path);
    const { gamePort: port, rconPort } = await server.ready();
    await using rcon = await rconOf(rconPort);
    const { bot } = await joinGame({ port, name: "carol" });
    // Its packet may come after the first chunks.
    while (bot.game.gameMode !== "creative") await once(bot, "game");
    const moved = once(bot, "forcedMove");
    assert.equal(await rcon.command("tp carol 8 20 -3.25"), "Teleported carol to 8.5, 20, -3.25");
    await moved;
    assert.deepEqual([bot.entity.position.x, bot.entity.position.z], [8.5, -3.25]);
    const gone = once(bot, "end");
    assert.equal(await rcon.command("ban Carol griefing"), "Banned Carol: griefing");
    await gone;
    assert.match(await refusedJoin({ port, name: "carol" }), /banned from this server. Reason: griefing/);
    assert.match(
      await rcon.command("banlist"),
      /There are 1 ban\(s\):\nCarol was banned by Server: griefing/,
    );
    assert.equal(await rcon.command("tp carol 1 2 3"), "No player was found");
    assert.equal(await rcon.command("whitelist add dave"), "Added dave to the whitelist");
    assert.equal(await rcon.command("whitelist on"), "Whitelist is now turned on");
    assert.equal(await rcon.command("pardon carol"), "Unbanned carol");
  });

  await t.test("a client of another version is told which one the server runs", async () => {
    await using server = await start(dir.path);
    const { gamePort: port } = await server.ready();
    for (const version of ["1.20.6", "1.21.8", "26.1"])
      assert.match(await refusedJoin({ port, name: "carol", version }), /runs Minecraft 1\.21\.4\./, version);
  });

  await t.test("the whitelist still holds after the process was killed", async () => {
    await using server = await start(dir.path);
    const { gamePort: port, rconPort } = await server.ready();
    assert.match(await refusedJoin({ port, name: "carol" }), /not whitelisted/);
    await using rcon = await rconOf(rconPort);
    assert.equal(await rcon.command("whitelist list"), "There are 1 whitelisted player(s): dave");
    assert.equal(await rcon.command("constructor"), 'Unknown or incomplete command. Type "help" for a list.');
    assert.match(await rcon.command("help"), /Help, page 1/);
    const { list } = await probe({ host: "127.0.0.1", port: rconPort, password: "test" });
    assert.deepEqual(parsePlayerList(list), { online: 0, max: 20, players: [] });
    server.child.stdin?.write("stop\n");
    await assertExit(server, 0);
    const properties = await readFile(join(dir.path, "server.properties"), "utf8");
    assert.match(properties, /^white-list=true$/m);
    assert.match(properties, /^rcon\.password=test$/m);
    await assert.rejects(stat(join(dir.path, "logs")), { code: "ENOENT" });
  });
});

test("of players who join at once no more get in than the maximum, and all of them are listed", {
  timeout: 60_000 * patience,
}, async () => {
  await using dir = await temporaryDir();
  await using server = await start(dir.path, { MAX_PLAYERS: "2" });
  const { gamePort: port, rconPort } = await server.ready();
  const names = ["first", "second", "third", "fourth"];
  const tries = await Promise.allSettled(names.map((name) => joinGame({ port, name })));
  const inside = tries.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const refused = tries.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));
  assert.equal(inside.length, 2);
  for (const words of refused) assert.match(words, /full/);
  await using rcon = await rconOf(rconPort);
  assert.match(await rcon.command("list"), /^There are 2 of a max of 2 players online/);
  const listed = inside.map(({ bot }) => bot.username).sort();
  for (const { bot } of inside) {
    while (Object.keys(bot.players).length < 2) await once(bot, "playerJoined");
    assert.deepEqual(Object.keys(bot.players).sort(), listed);
  }
  // A place is free again once its player has left.
  await inside[0]?.leave();
  while (!/^There are 1 /.test(await rcon.command("list")));
  const { leave } = await joinGame({ port, name: "fifth" });
  await leave();
});

test("a crash is logged and the world saved before the process exits with an error", async () => {
  await using dir = await temporaryDir();
  const crashOnSignal =
    "data:text/javascript,process.on('SIGUSR2',()=>{throw(new(Error)('out%20of%20luck'))})";
  await using server = await start(dir.path, { NODE_OPTIONS: `--import ${crashOnSignal}` });
  await server.ready();
  server.child.kill("SIGUSR2");
  await assertExit(server, 1);
  await server.output.line(/ERROR\]: The server crashed: Error: out of luck$/);
  await server.output.line(/All dimensions are saved$/);
});

test("a world and settings that were there before the first start are used and kept", async () => {
  await using dir = await temporaryDir();
  await mkdir(join(dir.path, "world"));
  await writeFile(join(dir.path, "world/level.dat"), "of another program");
  await writeFile(join(dir.path, "server.properties"), "motd=Brought along\n");
  await using server = await start(dir.path);
  const { gamePort: port, rconPort } = await server.ready();
  const status = await protocol.ping({ host: "127.0.0.1", port, version: "1.21.4" });
  assert.match(JSON.stringify(status), /Brought along/);
  await using rcon = await rconOf(rconPort);
  await rcon.command("save-all");
  assert.equal(await readFile(join(dir.path, "world/level.dat"), "utf8"), "of another program");
  assert.equal(await readFile(join(dir.path, "server.properties"), "utf8"), "motd=Brought along\n");
  // Nobody reads its console any more: it ends instead of logging that it can't log.
  server.child.stdout?.destroy();
  await rcon.command("say anyone?").catch(() => {});
  assert.deepEqual(await server.exited, { code: 0, signal: null });
});

test("a wrong setting ends the start with what to correct", async () => {
  await using dir = await temporaryDir();
  await using server = await start(dir.path, { MAX_PLAYERS: "many" });
  await assertExit(server, 1);
  await server.output.line(/MAX_PLAYERS is "many"; set it to a whole number from 1 to 10000/);
});

test("a port that is taken ends the start with a status above zero", async () => {
  await using first = await temporaryDir();
  await using second = await temporaryDir();
  await using server = await start(first.path);
  const { gamePort } = await server.ready();
  await using other = await start(second.path, { GAME_PORT: String(gamePort) });
  await assertExit(other, 1);
  await other.output.line(/could not start: listen EADDRINUSE/);
});
