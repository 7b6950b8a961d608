// The palette, the shortcuts and the help, and the main flows by keyboard alone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { en } from "../../services/panel/src/words/en/index.ts";
import type { Area } from "./fixture.ts";
import { pressKey, pressWithControl, tabTo } from "./keyboard.ts";
import type { Person } from "./person.ts";

const { files, keys, players, shell } = en;

/** Goes to a page by the palette. */
async function goTo(person: Person, typed: string): Promise<void> {
  await pressWithControl(person, "KeyK");
  await person.page.waitForSelector('[role="dialog"] input[type=search]:focus');
  await person.page.keyboard.type(typed);
  await person.page.waitForSelector('[role="menuitem"][data-focused]');
  await pressKey(person, "Enter");
}

const focusedText = ({ page }: Person) => page.evaluate(() => document.activeElement?.textContent ?? "");

export const addKeyTests: Area = (fixture) => {
  test("the palette leads to pages and servers, and names those of the open server first", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/"));
    await goTo(owner, "surv");
    await owner.isAt("/servers/survival");
    await until(async () => (await focusedText(owner)) === "survival", 20_000, "the focus on the heading");
    await owner.press("button", keys.open);
    await owner.sees(keys.groups.server);
    await inspect(owner, "palette");
    await owner.fill(keys.search, "nothing is called so");
    await owner.sees(keys.none);
    await pressKey(owner, "Escape");
    await pressKey(owner, "Escape");
    await owner.page.waitForSelector('[role="dialog"]', { hidden: true });
    await goTo(owner, players.title);
    await owner.isAt("/servers/survival/players");
  });

  test("? helps, / searches, and both can be switched off", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/servers"));
    await owner.page.keyboard.type("/");
    await owner.page.waitForSelector('input[name="search"]:focus');
    await owner.page.keyboard.type("/?");
    const typed = await owner.page.$eval(
      'input[name="search"]',
      (field) => (field as HTMLInputElement).value,
    );
    assert.equal(typed, "/?", "a field takes letters");
    await owner.open(addressOf("admin_host", "/servers"));
    await owner.page.keyboard.type("?");
    await owner.sees(keys.singleHelp);
    await inspect(owner, "keys");
    await tabTo(owner, "checkbox", keys.single);
    await pressKey(owner, "Space");
    await pressKey(owner, "Escape");
    await owner.page.waitForSelector('[role="dialog"]', { hidden: true });
    await owner.page.keyboard.type("?");
    await goTo(owner, keys.title);
    await owner.page.waitForFunction(() => document.querySelectorAll('[role="dialog"]').length === 1);
    await tabTo(owner, "checkbox", keys.single);
    await pressKey(owner, "Space");
    await pressKey(owner, "Escape");
    await until(() => owner.page.evaluate(() => localStorage.getItem("svc.keys") === null));
  });

  test("a time says the whole date while it has the focus", async () => {
    const { owner, addressOf } = fixture();
    await owner.open(addressOf("admin_host", "/servers/survival/activity"));
    await owner.sees(en.audit.actions["server.create"]);
    const times = () =>
      owner.page.$$eval("main time", (all) => all.map((time) => [time.textContent, time.title]));
    const [[relative = "", exact = ""] = []] = await times();
    assert.notEqual(relative, exact);
    await tabTo(owner, "link", shell.skip);
    await pressKey(owner, "Enter");
    await until(async () => {
      await pressKey(owner, "Tab");
      return (await focusedText(owner)) === exact;
    });
    await pressKey(owner, "Tab");
    assert.notEqual((await times())[0]?.[0], exact);
  });

  test("a folder is made and deleted by keyboard alone, and dialogs give the focus back", async () => {
    const { owner, addressOf } = fixture();
    await owner.open(addressOf("admin_host", "/servers/survival/files"));
    await owner.sees("server.properties");
    await tabTo(owner, "link", shell.skip);
    await pressKey(owner, "Enter");
    await tabTo(owner, "button", files.newFolder);
    await pressKey(owner, "Enter");
    await owner.page.waitForSelector('[role="dialog"] input:focus');
    await pressKey(owner, "Escape");
    await until(async () => (await focusedText(owner)) === files.newFolder);
    await pressKey(owner, "Enter");
    await owner.page.waitForSelector('[role="dialog"] input:focus');
    await owner.page.keyboard.type("by-keyboard");
    await pressKey(owner, "Enter");
    await tabTo(owner, "link", "by-keyboard");
    await pressKey(owner, "Enter");
    await owner.sees(files.empty);
  });
};
