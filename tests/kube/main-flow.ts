// What the whole is there for, with one player: create, wake by joining, wait in the lobby, play, back up and stop; the whole
// of it also changes the world, restores, drills and wakes again.

import assert from "node:assert/strict";
import { until } from "@svc/local-stack/testing";
import { waitForSurroundings } from "@svc/minecraft/testing";
import type { Stack } from "../flow/stack.ts";
import { bind, codeIn, type Visitor, visit } from "../flow/visitor.ts";

type Played = { lines: readonly string[]; seconds: Record<string, number> };

const name = "survival";
type Block = { name: string } | null;

function floorOf({ bot }: Visitor) {
  return bot.entity.position.floored().offset(1, -1, 0);
}

async function isOnItsFloor({ bot }: Visitor): Promise<void> {
  await waitForSurroundings(bot);
  await until(() => bot.entity.onGround, 10_000, "the player to stand");
}

/** Plays it on a stack whose owner is signed in on the command line; throws at the first thing that is not as it should. */
export async function playMainFlow(stack: Stack, { isWhole }: { isWhole: boolean }): Promise<Played> {
  const seconds: Record<string, number> = {};
  const timed = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    const result = await work();
    seconds[what] = Math.round((performance.now() - startedAt) / 100) / 10;
    return result;
  };
  const svc = async (...args: string[]): Promise<string> => {
    const ran = await stack.svc(...args);
    assert.equal(ran.code, 0, `svc ${args.join(" ")}: ${ran.stderr}${ran.stdout}`);
    return ran.stdout;
  };
  await timed("create", () => svc("server", "create", name, "--policy", "public"));

  const alice = await visit(stack, "alice", `${name}.${stack.file().root_domain}`);
  await bind(stack, codeIn(await alice.hears(/enter this code/)));
  await timed("wake by joining", async () => {
    await alice.hears(new RegExp(`${name} is waking up`));
    await alice.isOn(name, 60_000);
  });
  await isOnItsFloor(alice);
  const place = floorOf(alice);
  const block = alice.bot.blockAt(place) as Block;
  assert.ok(block && block.name !== "air", "there is a floor");

  await timed("backup", () => svc("backup-now", name, "--stop", "--yes"));
  await alice.isOn("lobby");
  const [backup] = JSON.parse(await svc("backup", "list", name, "--json")) as { id: string }[];
  assert.ok(backup, "there is a backup");
  if (isWhole) {
    alice.command(`felis go ${name}`);
    await alice.isOn(name, 60_000);
    await isOnItsFloor(alice);
    const dug = alice.bot.blockAt(place);
    assert.ok(dug);
    await alice.bot.dig(dug, true);
    assert.equal((alice.bot.blockAt(place) as Block)?.name, "air");

    await svc("server", "stop", name, "--wait");
    await alice.isOn("lobby");
    await timed("restore", () => svc("backup", "restore", backup.id, "--yes"));
    await timed("drill", () => svc("backup", "drill", name));
    alice.command(`felis go ${name}`);
    await timed("wake by command", () => alice.isOn(name, 60_000));
    await isOnItsFloor(alice);
    assert.equal((alice.bot.blockAt(place) as Block)?.name, block.name, "the world is the one of the backup");
  }
  await timed("stop", () => svc("server", "stop", name, "--wait"));
  await alice.isOn("lobby");
  await alice.leave();
  return { lines: alice.lines, seconds };
}
