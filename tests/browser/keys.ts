// The palette, the shortcuts and the help, and the main flows by keyboard alone.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import type { Area } from "./fixture.ts";
import { pressByKeys, pressKey, pressWithControl, tabTo } from "./keyboard.ts";
import type { Person } from "./person.ts";

const { backups, files, keys, players, shell, uploads } = en;

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
  const folder = mkdtempSync(join(tmpdir(), "svc-keys-"));
  after(() => rmSync(folder, { recursive: true, force: true }));

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

  test("a text is saved and a file uploaded by keyboard alone", async () => {
    const { owner, addressOf } = fixture();
    const { page } = owner;
    await owner.open(addressOf("admin_host", "/servers/survival/files?path=by-keyboard"));
    await owner.sees(files.empty);
    await pressByKeys(owner, "button", files.newFile);
    await page.waitForSelector('[role="dialog"] input:focus');
    await page.keyboard.type("typed.txt");
    await pressKey(owner, "Enter");
    await pressByKeys(owner, "link", "typed.txt");
    // The editor takes the focus by itself.
    await page.waitForFunction(() => document.activeElement?.shadowRoot?.activeElement != null);
    await page.keyboard.type("nobody has a mouse");
    await owner.sees(files.unsaved);
    await pressWithControl(owner, "KeyS");
    await owner.sees(files.saved(isolate("typed.txt")));
    await pressByKeys(owner, "link", files.back);
    await owner.sees("18 B");
    const path = join(folder, "by-keyboard.txt");
    writeFileSync(path, "chosen without a mouse");
    const [chooser] = await Promise.all([
      page.waitForFileChooser(),
      pressByKeys(owner, "button", uploads.files),
    ]);
    await chooser.accept([path]);
    await owner.sees("by-keyboard.txt");
    await owner.sees("22 B");
  });

  test("a world is backed up and restored by keyboard alone", async () => {
    const { owner, addressOf } = fixture();
    const { page } = owner;
    await owner.open(addressOf("admin_host", "/servers/survival/backups"));
    await pressByKeys(owner, "button", backups.make);
    await owner.sees(backups.jobsDone.backup);
    await owner.sees(backups.reasons.manual);
    const name = await page.$eval(
      'button[aria-label^="Restore the backup"]',
      (button) => button.ariaLabel ?? "",
    );
    await pressByKeys(owner, "button", name);
    await owner.sees(backups.restoreSafety);
    await page.waitForSelector('[role="alertdialog"] input[name="confirm"]:focus');
    await page.keyboard.type("survival");
    await pressByKeys(owner, "button", backups.restoreAction);
    await owner.sees(backups.jobsDone.restore);
    await owner.sees(backups.reasons.pre_restore);
  });
};
