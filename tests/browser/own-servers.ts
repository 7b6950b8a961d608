// What somebody who is no staff does with several servers at once.

import assert from "node:assert/strict";
import { test } from "node:test";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import type { Area } from "./fixture.ts";

const { fleet, servers, settings } = en;
const names = ["mine-one", "mine-two"] as const;

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
    await player.sees(servers.shown(3, 3));
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
};
