// Status pages: an owner shows one, and everybody reads it without signing in.

import assert from "node:assert/strict";
import { test } from "node:test";
import { announcements } from "../../services/panel/src/words/en/announcements.ts";
import { status as words } from "../../services/panel/src/words/en/status.ts";
import type { Area } from "./fixture.ts";
import { createPerson } from "./person.ts";

const name = "shown-inside";
const subdomain = "shown-outside";

export const addStatusPageTests: Area = (fixture) => {
  test("a page that is not shown is not found, in the same words as no page at all", async () => {
    const { owner, addressOf, browser, inspect } = fixture();
    const displayName = "Shown <b>World</b>";
    const made = await owner.request("POST", "/servers", { name, subdomain, displayName });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const stranger = await createPerson(browser);
    for (const path of [`/status/${subdomain}`, "/status/nothing-there", "/status"]) {
      await stranger.open(addressOf("panel_host", path));
      await stranger.sees(words.notFoundHelp);
    }
    await inspect(stranger, "status-not-found");
    await stranger.leave();
  });

  test("staff show the page of a server and the list, and copy its badge", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", `/servers/${name}/settings`));
    await owner.sees(words.card);
    await owner.press("switch", words.show);
    await owner.sees(words.shown);
    await owner.sees(addressOf("panel_host", `/status/${subdomain}`));
    const badge = await owner.page.waitForSelector(`img[alt="${words.badgeAlt}"]`);
    await owner.page.waitForFunction((image) => (image as HTMLImageElement).naturalWidth > 50, {}, badge);
    await inspect(owner, "settings-status-page");
    await owner.open(addressOf("admin_host", "/admin/announcements"));
    await owner.sees(announcements.about);
    await owner.press("switch", words.overallShow);
    await owner.sees(words.overallShown);
    await inspect(owner, "status-list-shown");
  });

  test("everybody reads both, in both languages, and nothing of what is inside", async () => {
    const { addressOf, browser, inspect, stack } = fixture();
    const stranger = await createPerson(browser);
    await stranger.open(addressOf("panel_host", "/status"));
    await stranger.sees("Shown <b>World</b>");
    await inspect(stranger, "status-list");
    await stranger.press("link", "Shown <b>World</b>");
    await stranger.isAt(`/status/${subdomain}`);
    await stranger.sees(words.states.asleep);
    await stranger.sees(`${subdomain}.${stack.file().root_domain}`);
    await stranger.sees(words.days);
    await inspect(stranger, "status-page");
    const text = await stranger.page.evaluate(() => document.body.textContent ?? "");
    assert.ok(!text.includes(name), "the name of the resource stays inside");
    const html = await stranger.page.evaluate(
      async (path: string) => (await fetch(path)).text(),
      `/api/v1/status/${subdomain}`,
    );
    assert.ok(!html.includes(name));
    await stranger.leave();
  });

  test("once it is switched off it is gone", async () => {
    const { owner, addressOf, browser } = fixture();
    await owner.open(addressOf("admin_host", `/servers/${name}/settings`));
    await owner.press("switch", words.show);
    await owner.sees(words.hidden);
    const stranger = await createPerson(browser);
    await stranger.open(addressOf("panel_host", `/status/${subdomain}`));
    await stranger.sees(words.notFoundHelp);
    await stranger.leave();
  });
};
