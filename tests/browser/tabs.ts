// Two tabs of one person, and two people at once.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import type { HTTPRequest } from "puppeteer-core";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import { deployAnotherBuild } from "./deploy.ts";
import type { Area } from "./fixture.ts";
import { createPerson, type Person } from "./person.ts";

const { files, fleet, serverConsole, settings, shell, uploads } = en;

const linesWith = ({ page }: Person, text: string) =>
  page.$$eval(
    "[role=log] [data-index]",
    (lines, wanted) => lines.filter((line) => line.textContent?.includes(wanted)).length,
    text,
  );

export const addTabTests: Area = (fixture) => {
  const folder = mkdtempSync(join(tmpdir(), "svc-tabs-"));
  after(() => rmSync(folder, { recursive: true, force: true }));

  test("two tabs show one console, each line once, also after one was out of sight", async () => {
    const { owner, addressOf } = fixture();
    await owner.open(addressOf("admin_host", "/servers/survival"));
    await owner.sees(en.server.phases.Running);
    const second = await owner.openTab();
    await second.open(addressOf("admin_host", "/servers/survival"));
    await second.fill(serverConsole.command, "say to both tabs");
    await second.page.keyboard.press("Enter");
    for (const tab of [owner, second]) {
      await tab.page.bringToFront();
      await until(async () => (await linesWith(tab, "[Server] to both tabs")) > 0);
      assert.equal(await linesWith(tab, "[Server] to both tabs"), 1);
    }
    assert.deepEqual(second.faults(), []);
    await second.page.close();
    await owner.page.bringToFront();
    await owner.fill(serverConsole.command, "say not sent yet");
    await owner.press("link", shell.account);
    await owner.isAt("/account");
    await owner.page.goBack();
    await owner.page.waitForFunction(() =>
      [...document.querySelectorAll("input")].some(({ value }) => value === "say not sent yet"),
    );
    await owner.fill(serverConsole.command, "");
  });

  test("a console that is long out of sight closes its stream, and has every line once when it is seen again", async () => {
    const { owner, addressOf } = fixture();
    const isConsole = (request: HTTPRequest) => new URL(request.url()).pathname.endsWith("/survival/console");
    await owner.open(addressOf("admin_host", "/servers/survival"));
    const say = (text: string) =>
      owner.request("POST", "/servers/survival/command", { command: `say ${text}` });
    assert.equal((await say("while it is seen")).status, 200);
    await until(async () => (await linesWith(owner, "[Server] while it is seen")) === 1);
    let isClosed = false;
    owner.page.on("requestfailed", (request) => {
      isClosed ||= isConsole(request);
    });
    const second = await owner.openTab();
    await second.open(addressOf("admin_host", "/account"));
    await second.page.bringToFront();
    // Half a minute (docs/reference/panel.md#live).
    await until(() => isClosed, 60_000, "the stream to be closed");
    assert.equal(
      (await second.request("POST", "/servers/survival/command", { command: "say while it is hidden" }))
        .status,
      200,
    );
    await second.page.close();
    await owner.page.bringToFront();
    await until(async () => (await linesWith(owner, "[Server] while it is hidden")) === 1);
    assert.equal(await linesWith(owner, "[Server] while it is seen"), 1);
  });

  test("a server that one person stops is asleep for the other without a hand", async () => {
    const { owner, addressOf } = fixture();
    const second = await owner.openTab();
    await second.open(addressOf("admin_host", "/servers/survival/settings"));
    await owner.page.bringToFront();
    await owner.press("button", `${en.server.stop} survival`);
    await owner.sees(en.server.phases.Stopped);
    await second.page.bringToFront();
    await second.sees(en.server.phases.Stopped);
    await second.sees(settings.hardware);
    await second.page.close();
    await owner.page.bringToFront();
  });

  test("of two people who save one file the later one compares", async () => {
    const { owner, addressOf } = fixture();
    const name = "shared.txt";
    await owner.open(addressOf("admin_host", "/servers/survival/files"));
    await owner.press("button", files.newFile);
    await owner.fill(files.newFileName, name);
    await owner.page.keyboard.press("Enter");
    await owner.sees(name);
    const second = await owner.openTab();
    const people = [owner, second];
    for (const person of people) {
      await person.page.bringToFront();
      await person.open(addressOf("admin_host", `/servers/survival/files?open=${name}`));
      const editor = `::-p-aria([name=${JSON.stringify(files.content(isolate(name)))}][role="textbox"])`;
      await person.page.locator(editor).click();
      await person.page.keyboard.type(person === owner ? "mine" : "theirs");
      await person.sees(files.unsaved);
    }
    await second.press("button", files.save);
    await second.sees(files.saved(isolate(name)));
    await owner.page.bringToFront();
    await owner.press("button", files.save);
    await owner.sees(files.conflict);
    await owner.press("button", files.keepMine);
    await owner.sees(files.saved(isolate(name)));
    await second.page.close();
  });

  test("a newer build under an open tab asks before it costs unsaved text or an upload", async () => {
    const { owner, stack, addressOf, inspect } = fixture();
    const { page } = owner;
    const [name, path] = ["under-way.bin", join(folder, "under-way.bin")];
    writeFileSync(path, Buffer.alloc(3_000_000));
    await owner.open(addressOf("admin_host", "/servers/survival/files?open=shared.txt"));
    const editor = `::-p-aria([name=${JSON.stringify(files.content(isolate("shared.txt")))}][role="textbox"])`;
    await page.locator(editor).click();
    await page.keyboard.type("not saved yet");
    await owner.sees(files.unsaved);
    const remove = deployAnotherBuild(stack);
    after(remove);
    await owner.sees(shell.newBuild);
    /** Presses Reload and stays where one is. */
    const reloadAndStay = async () => {
      const asked = new Promise<void>((resolve) =>
        page.once("dialog", (dialog) => void dialog.dismiss().then(resolve)),
      );
      await owner.press("button", shell.reload);
      await asked;
    };
    await reloadAndStay();
    await owner.sees(files.unsaved);
    await owner.press("button", files.save);
    await owner.sees(files.saved(isolate("shared.txt")));
    await owner.press("link", files.back);
    await owner.sees("shared.txt");
    await owner.sees(shell.newBuild);
    await inspect(owner, "newer-build");
    await page.emulateNetworkConditions({ download: 4_000_000, upload: 300_000, latency: 0 });
    const [chooser] = await Promise.all([page.waitForFileChooser(), owner.press("button", uploads.files)]);
    await chooser.accept([path]);
    await page.waitForSelector("section [role=progressbar]");
    await reloadAndStay();
    await page.emulateNetworkConditions(null);
    await owner.sees(uploads.ended(1));
    await owner.sees(name);
    await owner.press("link", shell.servers);
    await owner.press("link", en.servers.create);
    await owner.fill(en.create.name, "half-typed");
    await owner.press("button", shell.reload);
    await owner.sees(shell.reloadLoses);
    await inspect(owner, "newer-build-unsaved");
    await owner.press("button", shell.reloadAnyway);
    await owner.seesNo(shell.newBuild);
    await owner.seesNo(shell.reloadLoses);
  });

  test("of two people who change settings at once each changes only what they touched", async () => {
    const { owner, addressOf } = fixture();
    await owner.open(addressOf("admin_host", "/servers/survival/settings"));
    await owner.sees(settings.hardware);
    await owner.page.locator('input[name="idle-minutes"]').click({ count: 3 });
    await owner.page.keyboard.type("33");
    const change = (displayName: string) => owner.request("PATCH", "/servers/survival", { displayName });
    assert.equal((await change("By another")).status, 200);
    await owner.sees("By another");
    const typed = await owner.page.$eval(
      'input[name="idle-minutes"]',
      (field) => (field as HTMLInputElement).value,
    );
    assert.equal(typed, "33", "what was typed stays");
    await owner.press("button", settings.save);
    await owner.sees(settings.saved);
    const { body } = await owner.request("GET", "/servers/survival/status");
    assert.deepEqual([body["displayName"], body["idleStopSeconds"]], ["By another", 33 * 60]);
    assert.equal((await change("survival")).status, 200);
  });

  test("a server that another person gives up meanwhile is refused in a bulk act, the others are not", async () => {
    const { owner, addressOf } = fixture();
    const names = ["both-1", "both-2"] as const;
    for (const name of names) {
      const made = await owner.request("POST", "/servers", { name, subdomain: name });
      assert.equal(made.status, 201, JSON.stringify(made.body));
    }
    await owner.open(addressOf("admin_host", "/servers?q=both-"));
    await owner.press("checkbox", fleet.selectAll(2));
    await owner.press("button", fleet.acts.wake);
    await owner.sees(fleet.help.wake);
    const givenUp = await owner.request("PUT", "/servers/both-2/retirement", { confirm: "both-2" });
    assert.equal(givenUp.status, 202, JSON.stringify(givenUp.body));
    await owner.press("button", fleet.actions.wake(2));
    await owner.sees(fleet.progress(1, 1, 0));
    await owner.sees(en.faults.server_retiring);
    await owner.press("button", fleet.close);
    assert.equal((await owner.request("POST", "/servers/both-1/stop")).status, 202);
  });

  test("signing out in one tab ends all of them, with what was kept of uploads", async () => {
    const { browser, addressOf, signInByGame } = fixture();
    const person = await createPerson(browser);
    await person.open(addressOf("panel_host", "/login"));
    await signInByGame(person);
    const second = await person.openTab();
    await second.open(addressOf("panel_host", "/account"));
    await person.page.bringToFront();
    await person.page.evaluate(() =>
      localStorage.setItem("svc.uploads.somebody.tab", '[{"path":"secret.txt"}]'),
    );
    await person.press("button", en.shell.signOut);
    await person.sees(en.uploads.signOutHelp);
    await person.press("button", en.shell.signOut);
    await person.isAt("/login");
    await second.page.bringToFront();
    await second.isAt("/login");
    await until(() =>
      second.page.evaluate(() => !Object.keys(localStorage).some((key) => key.startsWith("svc.uploads"))),
    );
    assert.deepEqual([...person.faults(), ...second.faults()], []);
    await person.leave();
  });
};
