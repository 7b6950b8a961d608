// Who was on a server: its owner sees them, notes something and bans; the player sees it, exports and erases it.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { en } from "../../services/panel/src/words/en/index.ts";
import { knownPlayers as words } from "../../services/panel/src/words/en/known-players.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import { knownPlayers as chinese } from "../../services/panel/src/words/zh/known-players.ts";
import { describePanel, playerAt, signIn } from "./fixture.ts";
import type { Person } from "./person.ts";

const note = "Griefed the spawn, apologised.";

describePanel("players of servers in the panel", { isWhole: false }, (fixture) => {
  const uuid = randomUUID();
  let guest: Person;
  const report = async (number: number, ms: number) => {
    const visit = { mc_uuid: uuid, name: "Steve", server: "survival", number, ms };
    const path = "/api/v1/internal/proxies/host-1/visits";
    assert.equal((await fixture().stack.internal("POST", path, { visits: [visit] })).status, 204);
  };

  test("who was on a server is listed seconds later, for staff and on a phone", async () => {
    const { owner, addressOf, inspect } = fixture();
    await signIn(fixture());
    await owner.open(addressOf("admin_host", "/players"));
    await owner.sees(words.none);
    await inspect(owner, "known-players-empty");
    const made = await owner.request("POST", "/servers", { name: "survival", subdomain: "survival" });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    await report(1, 900);
    await owner.open(addressOf("admin_host", "/servers/survival/players"));
    await owner.press("link", en.players.seeKnown);
    await owner.isAt("/players");
    await owner.sees("Steve");
    await inspect(owner, "known-players");
    await owner.fill(words.search, "nobody");
    await owner.sees(words.noMatch);
    await owner.press("button", words.clear);
    await owner.press("link", "Steve");
    await owner.isAt(`/players/${uuid}`);
    await owner.sees(words.noNotes);
  });

  test("a note is written, and a ban answers for each server", async () => {
    const { owner, inspect } = fixture();
    await owner.fill(words.note, note);
    await owner.press("button", words.addNote);
    await owner.sees(note);
    await owner.press("button", words.acts.ban);
    await owner.sees(words.sure.ban(isolate("Steve"), 1));
    await inspect(owner, "known-player-ban");
    await owner.page.locator("[role=alertdialog] button:last-child").click();
    await owner.sees(en.faults.not_running);
    await inspect(owner, "known-player");
  });

  test("the player sees what is kept with the note, and erases it for everybody", async () => {
    const { owner, addressOf, inspect } = fixture();
    guest = await playerAt(fixture(), "/account", uuid);
    await guest.press("button", en.account.keptOf(isolate(uuid)));
    await guest.sees(note);
    await inspect(guest, "own-data");
    await guest.press("button", words.erase);
    await guest.sees(words.eraseHelp);
    await guest.page.locator("[role=alertdialog] button:last-child").click();
    await guest.sees(words.ownNone);
    await report(1, 900);
    await until(async () => (await owner.request("GET", `/players/${uuid}`)).status === 404);
    await owner.open(addressOf("admin_host", `/players/${uuid}`));
    await owner.sees(words.notFound);
    await guest.leave();
  });

  test("an owner without servers sees nobody, in Chinese too", async () => {
    const { player, addressOf, inspect } = fixture();
    await player.open(addressOf("panel_host", "/players"));
    await player.sees(words.none);
    await player.page.evaluate(() => localStorage.setItem("svc.language", "zh-CN"));
    await player.open(addressOf("panel_host", "/players"));
    await player.sees(chinese.none);
    await inspect(player, "known-players-chinese");
  });
});
