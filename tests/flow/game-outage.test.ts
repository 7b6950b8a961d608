// The internal face fails at each step of a player's way in. Nobody is admitted wrongly, nobody is lost, and what
// the player waited for happens once it is back.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { type Stack, startStack } from "./stack.ts";
import { bind, clickTile, codeIn, connectPlayer, openMenu, type Visitor, visit } from "./visitor.ts";

let stack: Stack;
let carol: Visitor;
before(async () => {
  stack = await startStack(["--set", "lifecycle.wake_cooldown=0s"]);
  await stack.setUp();
  for (const name of ["slow", "free"])
    await svc("server", "create", name, "--policy", "public", "--claimable");
});
after(async () => {
  await Promise.allSettled([carol?.leave()]);
  await stack?.stop();
});

async function svc(...args: string[]): Promise<Record<string, unknown>> {
  const ran = await stack.svc(...args, "--json");
  assert.equal(ran.code, 0, `svc ${args.join(" ")}: ${ran.stderr}${ran.stdout}`);
  return JSON.parse(ran.stdout) as Record<string, unknown>;
}

const isUp = () =>
  stack.internal("GET", "/api/v1/servers").then(
    ({ status }) => status === 200,
    () => false,
  );

/** Kills the internal face and each process that takes its place until `scene` is over; then waits for its return. */
async function whileDown(fixture: () => Promise<void>): Promise<void> {
  let isOver = false;
  let killed = 0;
  const killer = until(
    () => {
      const row = stack.file().processes.find(({ name }) => name === "gateway-internal");
      if (!isOver && row && row.pid !== killed) {
        process.kill(row.pid, "SIGKILL");
        killed = row.pid;
      }
      return isOver;
    },
    60_000,
    "the end of the scene",
  );
  await until(async () => !(await isUp()), 10_000, "the internal face to be away");
  await fixture().finally(() => {
    isOver = true;
  });
  await killer;
  await until(isUp, 30_000, "the internal face to be back");
}

function logOf(name: string): string {
  const row = stack.file().processes.find((process) => process.name === name);
  return row ? readFileSync(row.log, "utf8") : "";
}

test("before the login: a player is told to try again and is not admitted", async () => {
  await whileDown(async () => {
    assert.match(await connectPlayer(stack, "carol", "svc.localhost").ended, /does not answer/);
  });
});

test("at the gate: a player with a code stays, and moves on once the link is known", async () => {
  carol = await visit(stack, "carol", "slow.svc.localhost");
  const code = codeIn(await carol.hears(/enter this code/));
  await whileDown(async () => {
    await bind(stack, code);
    await until(() => /service call failed/.test(logOf("login-gate")), 10_000, "the gate to ask in vain");
    assert(!carol.lines.some((line) => /Welcome/.test(line)));
  });
  await carol.hears(/slow is waking up/);
});

test("in the queue: a waiting player keeps waiting, and joins the server that became ready meanwhile", async () => {
  await whileDown(async () => {
    const { phase } = await svc("server", "wake", "slow", "--wait");
    assert.equal(phase, "Running");
    assert.notEqual(await carol.place().catch(() => ""), "slow");
  });
  await carol.isOn("slow");
});

test("in the lobby: a claim fails with a message, and succeeds when it is repeated", async () => {
  carol.command("felis lobby");
  await carol.isOn("lobby");
  const tiles = await openMenu(carol);
  const slot = tiles.find(({ words }) => words.includes("free"))?.slot ?? -1;
  await whileDown(async () => {
    const since = carol.lines.length;
    await carol.bot.clickWindow(slot, 0, 0);
    await carol.hears(/That did not work|is not responding/, { since });
    carol.command("felis go slow");
    await carol.hears(/try again/i, { since: carol.lines.length - 1 });
  });
  const { body } = await stack.internal("GET", "/api/v1/internal/servers/free/menu");
  assert.equal((body as { claimable: boolean }).claimable, true);
  await clickTile(carol, "free", /Claim & Start|right-click to claim/);
  await carol.isOn("free");
});

test("players of a killed lobby or gate are disconnected with a message, and the next ones are served", async () => {
  carol.command("felis lobby");
  await carol.isOn("lobby");
  stack.kill("lobby");
  assert.match(await carol.ended, /The lobby is not available/);
  const erin = await visit(stack, "erin", "svc.localhost");
  stack.kill("login-gate");
  assert.match(await erin.ended, /The login gate is not available/);
  carol = await until(() => visit(stack, "carol", "svc.localhost"), 20_000, "carol to be back");
  await carol.isOn("lobby");
});

test("proxy and gate pick up new service tokens while they run", async () => {
  for (const caller of ["velocity", "limbo"]) await svc("rotate-token", caller, "--yes");
  const dave = await until(() => visit(stack, "dave", "free.svc.localhost"), 15_000, "dave to be let in");
  await bind(stack, codeIn(await dave.hears(/enter this code/)));
  await dave.isOn("free");
  await dave.leave();
});
