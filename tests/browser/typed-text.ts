// What is typed in a form and not sent: links, the way back and signing out ask before they cost it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "@svc/local-stack/testing";
import { en } from "../../services/panel/src/words/en/index.ts";
import { zh } from "../../services/panel/src/words/zh/index.ts";
import { type Area, playerAt } from "./fixture.ts";
import { pressKey, tabTo } from "./keyboard.ts";
import type { Person } from "./person.ts";

const { account, create, leaving, servers, shell, signIn, tokens } = en;

const typedIn = ({ page }: Person, name: string) =>
  page.$eval(`input[name="${name}"]`, (field) => (field as HTMLInputElement).value);

const focused = ({ page }: Person) =>
  page.evaluate(() => ({
    text: document.activeElement?.textContent ?? "",
    isInDialog: document.activeElement?.closest("[role=alertdialog]") !== null,
  }));

export const addTypedTextTests: Area = (fixture) => {
  test("another page asks before it costs what was typed, by keyboard too", async () => {
    const { owner, addressOf, inspect } = fixture();
    const { page } = owner;
    await owner.open(addressOf("admin_host", "/servers"));
    await owner.press("link", servers.create);
    await owner.isAt("/servers/new");
    await owner.fill(create.name, "half-typed");
    await tabTo(owner, "link", shell.audit);
    await pressKey(owner, "Enter");
    await owner.sees(leaving.help);
    await inspect(owner, "leave-typed-text");
    assert.deepEqual(await focused(owner), { text: shell.cancel, isInDialog: true });
    await pressKey(owner, "Escape");
    await owner.seesNo(leaving.help);
    await until(
      async () => (await focused(owner)).text === shell.audit,
      5_000,
      "the focus on the link again",
    );
    await page.goBack();
    await owner.sees(leaving.help);
    await owner.press("button", shell.cancel);
    await owner.seesNo(leaving.help);
    assert.deepEqual(
      [new URL(page.url()).pathname, await typedIn(owner, "name")],
      ["/servers/new", "half-typed"],
    );
    await page.goBack();
    await owner.press("button", leaving.leave);
    await owner.isAt("/servers");
  });

  test("the browser asks before a tab with typed text is loaded anew or closed, and not once it was taken", async () => {
    const person = await playerAt(fixture(), "/account");
    const { page } = person;
    await person.press("button", account.changeEmail);
    await person.fill(signIn.email, "half@example.net");
    const asked = new Promise<string>((resolve) => {
      page.once("dialog", (dialog) => void dialog.dismiss().then(() => resolve(dialog.type())));
    });
    // The reload waits for the answer, and does not come to its end.
    page.reload().catch(() => undefined);
    assert.equal(await asked, "beforeunload");
    assert.equal(await typedIn(person, "email"), "half@example.net");
    await person.fill(signIn.email, "");
    await page.reload();
    await person.sees(account.profile);
    // Signing out in another tab takes the person away from all of them, whatever is typed there.
    await person.press("button", account.changeEmail);
    await person.fill(signIn.email, "half@example.net");
    const second = await person.openTab();
    await second.open(fixture().addressOf("panel_host", "/account"));
    await second.press("button", shell.signOut);
    await second.isAt("/login");
    await page.bringToFront();
    await person.isAt("/login");
    assert.deepEqual([...person.faults(), ...second.faults()], []);
    await person.leave();
  });

  test("a form that was refused still holds its text, one that was taken does not", async () => {
    const { owner, addressOf } = fixture();
    await owner.open(addressOf("admin_host", "/servers/new"));
    await owner.fill(create.name, "no");
    await owner.page.keyboard.press("Enter");
    await owner.sees(en.faults.bad_name);
    await owner.press("link", shell.servers);
    await owner.sees(leaving.help);
    await owner.press("button", leaving.leave);
    await owner.isAt("/servers");
    await owner.open(addressOf("admin_host", "/servers/survival/settings"));
    await owner.fill(create.displayName, "Another name");
    await owner.press("button", en.settings.save);
    await owner.sees(en.settings.saved);
    await owner.press("link", shell.account);
    await owner.isAt("/account");
    assert.equal(
      (await owner.request("PATCH", "/servers/survival", { displayName: "survival" })).status,
      200,
    );
  });

  test("a search costs nothing", async () => {
    const { owner, addressOf } = fixture();
    await owner.open(addressOf("admin_host", "/servers"));
    await owner.fill(servers.search, "surv");
    await owner.press("link", "survival");
    await owner.isAt("/servers/survival");
  });

  test("a press beside a dialog does not close it over typed text, and signing out asks", async () => {
    const person = await playerAt(fixture(), "/account");
    await person.press("button", tokens.make);
    await person.fill(tokens.tokenName, "half a name");
    await person.page.mouse.click(4, 4);
    assert.equal(await typedIn(person, "token-name"), "half a name");
    await person.press("button", shell.cancel);
    await person.press("button", account.changeEmail);
    await person.fill(signIn.email, "half@example.net");
    await person.press("button", shell.signOut);
    await person.sees(leaving.signOutTitle);
    await person.press("button", shell.cancel);
    await person.page.select(`::-p-aria([name="${shell.language}"][role="combobox"])`, "zh-CN");
    await person.press("link", zh.shell.servers);
    await person.sees(zh.leaving.help);
    await person.press("button", zh.leaving.leave);
    await person.isAt("/servers");
    assert.deepEqual(person.faults(), []);
    await person.leave();
  });
};
