// Somebody in the game and somebody at the panel at the same time, on a whole stack: the player waits at the login gate for the
// panel, and is seen, left alone and sent away by it. SVC_BROWSER_LANE names the browser, such as /usr/bin/chromium.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, afterEach, before, describe, test } from "node:test";
import type { Browser } from "puppeteer-core";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import { type Stack, startStack } from "../flow/stack.ts";
import { codeIn, type Visitor, visit } from "../flow/visitor.ts";
import { startBrowser } from "./browser.ts";
import { inspect } from "./inspect.ts";
import { pressByKeys } from "./keyboard.ts";
import { assertNoFaults, createPerson, type Person, selectorOf } from "./person.ts";

const binary = process.env["SVC_BROWSER_LANE"];
const { account, create, server, serverConsole, setup, shell, signIn, start } = en;
const name = "survival";
const startMs = 120_000;
const commandField = "form input[enterkeyhint=send]";

describe("a player in the game and a person at the panel", () => {
  if (!binary || !existsSync(binary)) {
    test("skipped: set SVC_BROWSER_LANE to the browser, such as /usr/bin/chromium", (t) => t.skip());
    return;
  }
  let stack: Stack;
  let browser: Browser;
  let owner: Person;
  let alice: Visitor | undefined;
  let bob: Visitor | undefined;
  const addressOf = (host: "panel_host" | "admin_host", path: string) => {
    const file = stack.file();
    return `http://${file[host]}:${new URL(file.external_base_url).port}${path}`;
  };
  const command = () => owner.page.$eval(commandField, (field) => (field as HTMLInputElement).value);

  before(async () => {
    stack = await startStack(["--set", "lifecycle.wake_cooldown=0s"]);
    browser = await startBrowser(binary);
    owner = await createPerson(browser);
    owner.page.setDefaultTimeout(startMs);
    await owner.open(stack.file().setup_url);
    await owner.press("button", setup.redeem);
    await owner.press("button", setup.passkeyAdd);
    await owner.press("link", setup.goOn);
    await owner.isAt("/");
  });
  after(async () => {
    for (const visitor of [alice, bob]) await visitor?.leave();
    await browser?.close();
    await stack?.stop();
  });
  afterEach(() => assertNoFaults(owner));

  test("the owner links the player who waits at the gate, who goes on to the lobby at once", async () => {
    alice = await visit(stack, "alice", "svc.localhost");
    const code = codeIn(await alice.hears(/enter this code/));
    await owner.open(addressOf("admin_host", "/account"));
    await owner.press("button", account.linkAnother);
    await owner.fill(signIn.gameCode, code);
    await owner.page.keyboard.press("Enter");
    await owner.sees(setup.linked);
    await alice.hears(/Welcome to the lobby/);
    await alice.isOn("lobby");
  });

  test("a player without an account signs in with the code of the gate, and is let in", async () => {
    bob = await visit(stack, "bob", "svc.localhost");
    const code = codeIn(await bob.hears(/enter this code/));
    const person = await createPerson(browser);
    await person.open(addressOf("panel_host", "/login"));
    await person.press("button", signIn.game);
    await person.fill(signIn.gameCode, code);
    await person.page.keyboard.press("Enter");
    await person.isAt("/");
    await bob.hears(/Welcome to the lobby/);
    assertNoFaults(person);
    await person.leave();
  });

  test("a server is made and woken, and its page says how far it is until a player joins", async () => {
    await owner.open(addressOf("admin_host", "/servers/new"));
    await owner.fill(create.name, name);
    await owner.page.keyboard.press("Enter");
    await owner.isAt(`/servers/${name}`);
    await owner.press("button", server.wake);
    await owner.sees(start.steps.process);
    await owner.page.locator(`::-p-aria([name=${JSON.stringify(start.bar)}][role="progressbar"])`).wait();
    await owner.sees(server.phases.Running);
    await owner.sees(/\[.*INFO/);
    alice?.command(`felis go ${name}`);
    await alice?.isOn(name, startMs);
    await owner.sees(server.players(1, 20));
    await owner.sees("alice joined the game");
    assert.deepEqual(await inspect(owner, "server-with-player", { isWhole: true }), []);
  });

  test("a command is completed with the name of who is on, and is there again on the arrow keys", async () => {
    const { page } = owner;
    await page.locator(selectorOf("textbox", serverConsole.command)).click();
    await page.keyboard.type("kick al");
    await owner.sees("kick alice");
    await page.keyboard.press("Tab");
    assert.equal(await command(), "kick alice");
    await owner.fill(serverConsole.command, "say welcome back");
    await page.keyboard.press("Enter");
    await alice?.hears(/welcome back/);
    await page.waitForFunction(
      (field: string) => document.querySelector<HTMLInputElement>(field)?.value === "",
      {},
      commandField,
    );
    await page.keyboard.type("say half");
    await page.keyboard.press("ArrowUp");
    assert.equal(await command(), "say welcome back");
    await page.keyboard.press("ArrowDown");
    assert.equal(await command(), "say half", "what was being typed is there again");
    await owner.fill(serverConsole.command, "");
  });

  test("by keyboard alone a stop names who is on, they may play on, and a second one sends them to the lobby", async () => {
    const stop = async () => {
      await pressByKeys(owner, "button", `${server.stop} ${name}`);
      await owner.sees(isolate("alice"));
      await pressByKeys(owner, "button", server.stopServer);
      await owner.sees(start.stopHelp);
    };
    await stop();
    await pressByKeys(owner, "button", start.playOn);
    await owner.sees(start.goesOn(isolate(name)));
    assert.equal(await alice?.place(), name);
    await stop();
    await alice?.isOn("lobby", startMs);
    await owner.sees(server.phases.Stopped);
    await owner.press("link", shell.servers);
    await owner.sees(server.phases.Stopped);
  });
});
