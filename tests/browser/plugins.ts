// The page about plugins and mods.

import assert from "node:assert/strict";
import { test } from "node:test";
import { en } from "../../services/panel/src/words/en/index.ts";
import { plugins as words } from "../../services/panel/src/words/en/plugins.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import type { Area } from "./fixture.ts";
import { type Person, writeFile } from "./person.ts";

export const addPluginTests: Area = (fixture) => {
  const open = async (): Promise<Person> => {
    const { owner, addressOf } = fixture();
    await owner.open(addressOf("admin_host", "/servers/survival/plugins"));
    await owner.sees(words.installed);
    return owner;
  };

  test("what was put there by hand is listed and removed, and a catalogue that is away says so", async () => {
    const { owner, inspect } = fixture();
    await owner.request("POST", "/servers/survival/files/mkdir?path=plugins");
    const { status, body } = await writeFile(
      owner,
      { server: "survival", path: "plugins/Towers.jar" },
      "no real jar",
    );
    assert.equal(status, 200, JSON.stringify(body));
    await open();
    await owner.sees("plugins/Towers.jar");
    await owner.page.select("main section select", "paper");
    await owner.fill(words.gameVersion, "1.21.4");
    await inspect(owner, "plugins");
    await owner.fill(words.text, "towers");
    await owner.page.keyboard.press("Enter");
    await owner.sees(en.faults.catalogue_unavailable);
    await inspect(owner, "plugins-away");
    await owner.press("button", words.removeOf(isolate("plugins/Towers.jar")));
    await owner.sees(words.removeHelp);
    await owner.press("button", words.remove);
    await owner.sees(words.none);
    await inspect(owner, "plugins-empty");
  });
};
