// What somebody who is no staff does with several servers at once.

import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import type { Area } from "./fixture.ts";
import { selectorOf } from "./person.ts";

const { fleet, server, servers, settings } = en;
const names = ["mine-one", "mine-two"] as const;

/** Of all that the player owns or could claim; other areas have made some of them. */
const shownOfAll = (count: number) => new RegExp(`\\b${count} of \\d+ servers`);

export const addOwnServerTests: Area = (fixture) => {
  test("own servers are chosen by their boxes, and those that could be claimed are not", async () => {
    const { owner, player, addressOf, inspect } = fixture();
    const { body: me } = await player.request("GET", "/me");
    for (const name of names) {
      const made = { name, subdomain: name, owner: me["user_id"] };
      assert.equal((await owner.request("POST", "/servers", made)).status, 201);
    }
    const free = { name: "mine-free", subdomain: "mine-free", claimable: true };
    assert.equal((await owner.request("POST", "/servers", free)).status, 201);
    await player.open(addressOf("panel_host", "/servers?q=mine-"));
    await player.sees(names[1]);
    await player.press("checkbox", fleet.selectAll(2));
    await player.sees(fleet.selected(2));
    await inspect(player, "own-servers-selected");
  });

  test("a tag is added to all of them, and taken from them again", async () => {
    const { player, inspect } = fixture();
    await player.press("button", fleet.tags);
    await player.fill(settings.tag, " Event ");
    await player.fill(settings.tagColour, "red");
    await inspect(player, "own-servers-tag");
    await player.press("button", fleet.tagActions.tag(2));
    await player.sees(fleet.tagRuns.tag(isolate("event"), 2));
    await player.sees(fleet.progress(2, 0, 0));
    await inspect(player, "own-servers-tagged");
    for (const name of names) {
      const { body } = await player.request("GET", `/servers/${name}/status`);
      assert.deepEqual(body["tags"], [{ name: "event", colour: "red" }]);
    }
    await player.press("button", fleet.close);
    await player.press("checkbox", fleet.selectAll(2));
    await player.press("button", fleet.tags);
    await player.fill(fleet.tagWhat, "untag");
    await player.fill(settings.tag, "event");
    await player.press("button", fleet.tagActions.untag(2));
    await player.sees(fleet.progress(2, 0, 0));
    const { body } = await player.request("GET", `/servers/${names[0]}/status`);
    assert.equal(body["tags"], undefined);
    await player.press("button", fleet.close);
  });

  test("what cannot be done says why for each server, and is tried again", async () => {
    const { player, inspect } = fixture();
    await player.press("checkbox", fleet.select(isolate(names[0])));
    await player.sees(fleet.selected(1));
    await player.press("button", fleet.acts.restart);
    await player.sees(fleet.help.restart);
    await player.sees(fleet.keepOpen);
    await inspect(player, "own-servers-restart");
    await player.press("button", fleet.actions.restart(1));
    await player.sees(fleet.progress(0, 1, 0));
    await player.sees(en.faults.not_running);
    await player.press("button", fleet.retry(1));
    await player.press("button", fleet.close);
    const { body } = await player.request("GET", `/servers/${names[0]}/status`);
    assert.equal(body["phase"], "Stopped");
  });

  test("a running server is restarted on its page and in the list", async () => {
    const { player, addressOf, inspect } = fixture();
    const [name] = names;
    const phaseOf = async () => (await player.request("GET", `/servers/${name}/status`)).body["phase"];
    const isUp = () => until(async () => (await phaseOf()) === "Running", 120_000);
    const isDown = () => until(async () => (await phaseOf()) === "Starting", 30_000);
    assert.equal((await player.request("POST", `/servers/${name}/wake`)).status, 202);
    await isUp();
    await player.open(addressOf("panel_host", `/servers/${name}`));
    await player.press("button", `${server.restart} ${name}`);
    await player.sees(server.confirmRestartHelp);
    await inspect(player, "server-restart");
    await player.press("button", server.restartServer);
    await isDown();
    await player.sees(server.restartsNow);
    await isUp();
    await player.open(addressOf("panel_host", "/servers?q=mine-one"));
    await player.press("checkbox", fleet.selectAll(1));
    await player.press("button", fleet.acts.restart);
    await player.press("button", fleet.actions.restart(1));
    await player.sees(fleet.progress(1, 0, 0));
    await isDown();
    await isUp();
    await player.press("button", fleet.close);
    await player.request("POST", `/servers/${name}/stop`);
    await until(async () => (await phaseOf()) === "Stopped", 60_000);
  });

  test("what is looked for is saved under a name, shown again and deleted", async () => {
    const { player, addressOf, inspect } = fixture();
    await player.open(addressOf("panel_host", "/servers?q=mine-"));
    await player.fill(servers.search, "mine-one");
    await player.sees(shownOfAll(1));
    await player.press("button", fleet.saveFilter);
    await player.fill(fleet.filterName, "Mine");
    await inspect(player, "own-servers-save-filter");
    await player.press("button", fleet.saveFilterAction);
    await player.sees(fleet.filterSaved);
    const shown = isolate("Mine");
    await player.open(addressOf("panel_host", "/servers"));
    await player.sees(names[1]);
    await player.press("button", fleet.openFilter(shown));
    await player.sees(shownOfAll(1));
    assert.equal(new URL(player.page.url()).searchParams.get("q"), "mine-one");
    await inspect(player, "own-servers-filter");
    await player.press("button", fleet.deleteFilter);
    await player.sees(fleet.deleteFilterOf(shown));
    // The dialog has the button of the same name.
    await player.page.locator(`[role=alertdialog] ${selectorOf("button", fleet.deleteFilter)}`).click();
    await player.sees(fleet.filterDeleted);
    await player.sees(fleet.saveFilter);
    const { body } = await player.request("GET", "/me/server-filters");
    assert.deepEqual(body["filters"], []);
  });

  test("a filter of staff is not offered in the own list, and one that is saved twice is replaced", async () => {
    const { owner, addressOf } = fixture();
    await owner.open(addressOf("admin_host", "/servers?show=attention"));
    for (const _ of [1, 2]) {
      await owner.press("button", fleet.saveFilter);
      await owner.fill(fleet.filterName, "Trouble");
      await owner.press("button", fleet.saveFilterAction);
      await owner.sees(fleet.filterSaved);
      await owner.open(addressOf("admin_host", "/servers?show=failed"));
    }
    const { body } = await owner.request("GET", "/me/server-filters");
    assert.deepEqual(
      (body["filters"] as { name: string; show: string }[]).map(({ name, show }) => `${name} ${show}`),
      ["Trouble failed"],
    );
  });
};
