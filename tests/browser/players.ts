import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import type { Area } from "./fixture.ts";
import { addLuckPermsTests } from "./luck-perms.ts";
import type { Person } from "./person.ts";

const { players, server } = en;

/** Wakes the server of the page, also when it was woken a moment ago and has to wait. */
async function wake({ page }: Person): Promise<void> {
  await page.waitForFunction(
    (word: string, running: string) => {
      const [status] = document.querySelectorAll("header [role=status]");
      const button = [...document.querySelectorAll("button")].find(({ textContent }) => textContent === word);
      button?.click();
      return status?.textContent?.includes(running);
    },
    { polling: 500, timeout: 60_000 },
    server.wake,
    server.phases.Running,
  );
}

export const addPlayerTests: Area = (fixture) => {
  test("the right to wake a sleeping server is taken from one player", async () => {
    const { stack, owner, addressOf, inspect } = fixture();
    const joined = [randomUUID(), randomUUID()];
    for (const mc_uuid of joined) {
      const path = "/api/v1/internal/servers/survival/join-event";
      assert.equal((await stack.internal("POST", path, { mc_uuid })).status, 204);
    }
    await owner.open(addressOf("admin_host", "/servers/survival/players"));
    await owner.sees(players.asleepHelp);
    const [first = ""] = joined;
    await owner.sees(first);
    const name = players.mayWakeOf(isolate(first));
    await owner.page.locator(`::-p-aria([name=${JSON.stringify(name)}][role="switch"])`).click();
    await until(async () => {
      const listed = await owner.page.evaluate(async () => {
        const answer = await fetch("/api/v1/servers/survival/allowlist");
        return (await answer.json()) as { entries: { mc_uuid: string; can_wake: boolean }[] };
      });
      const rights = new Map(listed.entries.map((entry) => [entry.mc_uuid, entry.can_wake]));
      return rights.get(first) === false && rights.get(joined[1] ?? "") === true;
    });
    await inspect(owner, "players-asleep");
  });

  test("many players are added to the whitelist at once, and one is taken off and put back", async () => {
    const { owner, addressOf, inspect } = fixture();
    await wake(owner);
    await owner.sees(players.whitelistEmpty);
    await owner.fill(players.addToWhitelist, "alice, bob\nnot-a-name");
    await owner.press("button", players.add);
    await owner.sees(players.invalid(isolate("not-a-name")));
    await inspect(owner, "players-refused");
    await owner.open(addressOf("admin_host", "/servers/survival/players"));
    await owner.fill(players.addToWhitelist, "alice, bob\ncarol");
    await owner.press("button", players.add);
    await owner.sees("carol");
    await owner.press("button", players.removeOf(isolate("bob")));
    await owner.sees(players.removed(isolate("bob")));
    await owner.press("button", players.undo);
    await owner.page.locator(`::-p-aria([name=${JSON.stringify(players.removeOf(isolate("bob")))}])`).wait();
  });

  // The server is awake here.
  addLuckPermsTests(fixture);

  test("a player is banned and may come back", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/servers/survival/players"));
    await owner.fill(players.banNames, "mallory");
    await owner.press("button", players.ban);
    await owner.page
      .locator(`::-p-aria([name=${JSON.stringify(players.unbanOf(isolate("mallory")))}])`)
      .wait();
    await inspect(owner, "players");
    await owner.press("button", players.unbanOf(isolate("mallory")));
    await owner.sees(players.bansEmpty);
    await owner.press("button", `${server.stop} survival`);
    await owner.sees(server.phases.Stopped);
  });

  test("a stranger sees neither players nor permissions", async () => {
    const { player, addressOf } = fixture();
    for (const page of ["players", "luckperms"]) {
      await player.open(addressOf("panel_host", `/servers/survival/${page}`));
      await player.sees(en.shell.home);
    }
  });
};
