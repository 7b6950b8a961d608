import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { isWhole } from "@svc/config/testing";
import { patience, until } from "@svc/local-stack/testing";
import { gameVersions } from "@svc/proto/game-version";
import { connectRcon } from "@svc/rcon";
import protocol from "minecraft-protocol";
import { joinGame, refusedJoin } from "../testing/bot.ts";
import { startProcess, temporaryDir } from "../testing/process.ts";

const { PATH, NODE_COMPILE_CACHE } = process.env;

// Those in between join in `npm test -- --whole`.
const versions = gameVersions.filter(
  (_, index) => isWhole || index === 0 || index === gameVersions.length - 1,
);
for (const [number, version] of versions) {
  test(`as ${version} it says so, takes players of that version, and refuses another in words`, {
    timeout: 60_000 * patience,
  }, async () => {
    await using dir = await temporaryDir();
    await using server = await startProcess(dir.path, { PATH, NODE_COMPILE_CACHE, GAME_VERSION: version });
    const { gamePort: port, rconPort } = await server.ready();
    const status = (await protocol.ping({ host: "127.0.0.1", port, version })) as protocol.NewPingResult;
    assert.equal(status.version.protocol, number);
    const [alice, bob] = [
      await joinGame({ port, name: "alice", version }),
      await joinGame({ port, name: "bob", version }),
    ];
    assert.deepEqual(Object.keys(bob.bot.players).sort(), ["alice", "bob"]);
    const heard = once(bob.bot, "chat");
    alice.bot.chat("good evening");
    assert.deepEqual((await heard).slice(0, 2), ["alice", "good evening"]);

    const place = alice.bot.entity.position.floored().offset(-1, -1, 0);
    // A player hears nothing of blocks in pieces of the world that have not arrived.
    await until(() => bob.bot.blockAt(place));
    const block = await until(() => alice.bot.blockAt(place));
    assert(block && block.name !== "air");
    const dug = once(bob.bot, `blockUpdate:${place}`);
    await alice.bot.dig(block, true);
    await dug;
    await using rcon = await connectRcon({ host: "127.0.0.1", port: rconPort, password: "test" });
    const laid = once(alice.bot, `blockUpdate:${place}`);
    await rcon.command(`setblock ${place.x} ${place.y} ${place.z} gold_block`);
    await laid;
    assert.equal(alice.bot.blockAt(place)?.name, "gold_block");
    const noon = once(alice.bot, "time");
    await rcon.command("time set 6000");
    await noon;
    assert.equal(alice.bot.time.timeOfDay, 6_000);

    const other = version === "1.21.4" ? "1.21.1" : "1.21.4";
    const refused = await refusedJoin({ port, name: "carol", version: other });
    assert(refused.includes(`This server runs Minecraft ${version}.`), refused);
    await Promise.all([alice.leave(), bob.leave()]);
    assert.equal(await rcon.command("list"), "There are 0 of a max of 20 players online: ");
  });
}
