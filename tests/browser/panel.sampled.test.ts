// Sign-in and all pages of a server in a real browser on a real stack, one area after the other; without --whole, a sample of
// all pages. Pictures of each page go to .cache/pictures, or where SVC_BROWSER_PICTURES says.

import assert from "node:assert/strict";
import { test } from "node:test";
import { isWhole } from "@svc/config/testing";
import { until } from "@svc/local-stack/testing";
import pg from "pg";
import type { HTTPRequest } from "puppeteer-core";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import { newestCode } from "../flow/stack.ts";
import { sampledAreas, serverAreas } from "./areas.ts";
import { addFirstViewTests } from "./first-view.ts";
import { describePanel } from "./fixture.ts";
import { colourFindings, seriousFindings } from "./inspect.ts";
import { pressByKeys, pressKey, tabTo, typeByKeys } from "./keyboard.ts";
import { assertNoFaults, createPerson, whileReturning } from "./person.ts";

describePanel("sign-in and a server in the panel", { isWhole }, (fixture) => {
  test("a page of sins is caught", async () => {
    const { browser, addressOf } = fixture();
    const faulty = await createPerson(browser);
    await faulty.open(addressOf("panel_host", "/login"));
    await faulty.page.evaluate(() => {
      const style = document.createElement("style");
      style.textContent = "body{color:#eee}";
      document.head.append(style);
      document.body.setAttribute("style", "color:#eee");
      const field = document.createElement("input");
      document.body.append(field);
      for (const look of ["running", "failed"]) {
        const status = document.createElement("span");
        status.dataset["look"] = look;
        status.textContent = "●";
        document.body.append(status);
      }
      setTimeout(() => {
        throw new Error("a script failed");
      });
    });
    const faults: string[] = [];
    await until(() => faults.push(...faulty.faults()) >= 3);
    assert.ok(faults.some((fault) => fault.startsWith("policy: style-src")));
    assert.ok(faults.some((fault) => fault.includes("a script failed")));
    const findings = await seriousFindings(faulty.page);
    assert.ok(findings.some((finding) => finding.startsWith("label")));
    assert.equal((await colourFindings(faulty.page)).length, 2);
    await faulty.leave();
  });

  addFirstViewTests(fixture);

  test("without a session every page leads to sign-in and back", async () => {
    const { owner, player, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/servers?q=a"));
    await owner.isAt("/login");
    assert.equal(new URL(owner.page.url()).searchParams.get("next"), "/servers?q=a");
    await inspect(owner, "login-operator");
    await player.open(addressOf("panel_host", "/login"));
    await inspect(player, "login");
  });

  test("the setup link makes the first owner, with a passkey", async () => {
    const { stack, owner, addressOf, inspect } = fixture();
    const link = stack.file().setup_url;
    await owner.open(link);
    await owner.isAt("/setup");
    assert.equal(new URL(owner.page.url()).search, "", "the token left the address");
    await inspect(owner, "setup-redeem");
    await pressByKeys(owner, "button", en.setup.redeem);
    await owner.sees(en.setup.wayIn);
    await inspect(owner, "setup-way-in");
    // Who breaks off here has a session that is good for nothing else.
    await owner.open(addressOf("admin_host", "/servers"));
    await owner.isAt("/setup");
    await owner.sees(en.setup.wayIn);
    await pressByKeys(owner, "button", en.setup.passkeyAdd);
    await owner.sees(en.setup.done);
    await pressByKeys(owner, "link", en.setup.goOn);
    await owner.isAt("/");
    await owner.sees(en.dashboard.allWell);
    await inspect(owner, "dashboard-empty");
  });

  test("a spent link says so", async () => {
    const { browser, addressOf } = fixture();
    const late = await createPerson(browser);
    await late.open(addressOf("admin_host", "/setup?token=spent"));
    await late.press("button", en.setup.redeem);
    await late.sees(en.setup.spent);
    assertNoFaults(late);
    await late.leave();
  });

  test("a server is created; its subdomain follows the name", async () => {
    const { stack, owner, inspect } = fixture();
    await pressByKeys(owner, "link", en.shell.servers);
    await owner.isAt("/servers");
    await owner.sees(en.servers.noneStaff);
    await inspect(owner, "servers-empty");
    await pressByKeys(owner, "link", en.servers.create);
    await owner.isAt("/servers/new");
    await typeByKeys(owner, en.create.name, "no");
    await owner.page.keyboard.press("Enter");
    await owner.sees(en.faults.bad_name);
    await inspect(owner, "create-refused");
    await owner.fill(en.create.name, "survival");
    await owner.sees(`survival.${stack.file().root_domain}`);
    await owner.fill(en.server.memory, "a lot");
    await owner.sees(en.settings.quantityWrong);
    await owner.fill(en.server.memory, "1Gi");
    await owner.page.keyboard.press("Enter");
    await owner.isAt("/servers/survival");
    await owner.sees(en.server.phases.Stopped);
    const { body } = await owner.request("GET", "/servers/survival/status");
    assert.equal(body["memory"], "1Gi");
    await inspect(owner, "server-asleep");
  });

  test("it is woken by keyboard, takes a command in its console, and is stopped", async () => {
    const { stack, owner, addressOf, inspect } = fixture();
    await tabTo(owner, "button", en.server.wake);
    await pressKey(owner, "Enter");
    await owner.sees(en.server.phases.Running);
    await owner.sees(/\[.*INFO/);
    await tabTo(owner, "textbox", en.serverConsole.command);
    await owner.page.keyboard.type("say hello from the panel");
    await owner.page.keyboard.press("Enter");
    await owner.sees("hello from the panel");
    await inspect(owner, "server-running");
    const status = await stack.internal("GET", "/api/v1/internal/servers/survival/status");
    assert.equal((status.body as { phase: string }).phase, "Running");
    await owner.open(addressOf("admin_host", "/servers"));
    await owner.sees(en.server.phases.Running);
    await inspect(owner, "servers");
    await owner.open(addressOf("admin_host", "/"));
    await inspect(owner, "dashboard");
    await owner.open(addressOf("admin_host", "/servers/survival"));
    await pressByKeys(owner, "button", `${en.server.stop} survival`);
    await owner.sees(en.server.phases.Stopped);
  });

  test("a poll is no use of the session unless somebody has just touched the page", async () => {
    const { owner } = fixture();
    const { page } = owner;
    const polled = async () => {
      const isPoll = (request: HTTPRequest) => request.url().endsWith("/servers/survival/status");
      const asked = await whileReturning(page, () => page.waitForRequest(isPoll));
      return asked.headers()["x-svc-background"];
    };
    await page.evaluate(() => {
      const now = Date.now;
      Date.now = () => now() + 120_000;
    });
    assert.equal(await polled(), "true");
    await page.evaluate(() => window.dispatchEvent(new Event("keydown")));
    await until(async () => (await polled()) === undefined);
  });

  test("a passkey signs the owner in again after signing out", async () => {
    const { owner } = fixture();
    await pressByKeys(owner, "button", en.shell.signOut);
    await owner.isAt("/login");
    await pressByKeys(owner, "button", en.signIn.passkey);
    await owner.isAt("/");
  });

  test("a player signs in with a game code, and later with a mailed code", async () => {
    const { stack, player, inspect, signInByGame } = fixture();
    await signInByGame(player, () => inspect(player, "login-game-code"));
    await inspect(player, "dashboard-player");
    await player.press("link", en.shell.account);
    await player.isAt("/account");
    await inspect(player, "account-first");
    await player.press("button", en.account.changeEmail);
    await player.fill(en.signIn.email, "player@example.net");
    await player.page.keyboard.press("Enter");
    await player.fill(en.signIn.code, await until(() => newestCode(stack.file().mail.dir), 10_000));
    await player.page.keyboard.press("Enter");
    await player.sees(/E-mail\s+player@example\.net/);
    await player.press("button", en.shell.signOut);
    await player.isAt("/login");
    await typeByKeys(player, en.signIn.email, "player@example.net");
    const before = newestCode(stack.file().mail.dir);
    await player.page.keyboard.press("Enter");
    await player.sees(en.signIn.codeTitle);
    await inspect(player, "login-mail-code");
    const mailed = await until(() => {
      const newest = newestCode(stack.file().mail.dir);
      return newest === before ? undefined : newest;
    }, 10_000);
    await player.fill(en.signIn.code, ` ${mailed.slice(0, 3)} ${mailed.slice(3)}`);
    await player.page.keyboard.press("Enter");
    await player.isAt("/");
  });

  test("a player adds and removes a passkey, and ends the sessions of other devices", async () => {
    const { browser, player, addressOf, inspect, signInByGame } = fixture();
    const phone = await createPerson(browser);
    await phone.open(addressOf("panel_host", "/login"));
    await signInByGame(phone);
    await player.press("link", en.shell.account);
    await player.sees(en.account.noPasskeys);
    await player.press("button", en.account.anotherPasskey);
    await player.press("button", en.setup.passkeyAdd);
    await player.sees(en.account.passkeyUnused);
    await player.press("button", en.account.anotherPasskey);
    await player.press("button", en.setup.passkeyAdd);
    await player.sees(en.setup.passkeyTaken);
    await player.press("button", en.account.endOthers);
    await player.sees(en.account.endedOthers(1));
    await inspect(player, "account");
    // Its stream of changes ends with the session.
    await phone.sees(en.shell.sessionEnded);
    await phone.leave();
    await player.press("button", en.account.removePasskey(isolate("Chrome, Linux")));
    await player.sees(en.account.removePasskeyHelp);
    await inspect(player, "account-remove-passkey");
    await player.press("button", en.account.removePasskeyAction);
    await player.sees(en.account.noPasskeys);
  });

  test("a change of the ways in asks for a proof, which a mailed code gives", async () => {
    const { player, stack, addressOf, inspect } = fixture();
    const database = new pg.Client(stack.file().database_url);
    await database.connect();
    // An hour later.
    await database.query(
      `update identity.sessions set reauth_at = now() - interval '1 hour'
       from identity.users where users.id = user_id and email = 'player@example.net'`,
    );
    await database.query("delete from identity.otp_reservations");
    await database.end();
    await player.open(addressOf("panel_host", "/account"));
    await player.press("button", en.account.anotherPasskey);
    await player.press("button", en.setup.passkeyAdd);
    await player.sees(en.shell.proveHelp);
    await inspect(player, "proof");
    const { dir } = stack.file().mail;
    const before = newestCode(dir);
    await pressByKeys(player, "button", en.shell.proveMail);
    const mailed = await until(
      () => {
        const newest = newestCode(dir);
        return newest === before ? undefined : newest;
      },
      20_000,
      "the mailed code",
    );
    await typeByKeys(player, en.shell.proveCode, mailed);
    await player.page.keyboard.press("Enter");
    await player.sees(en.account.passkeyUnused);
    await player.press("button", en.account.removePasskey(isolate("Chrome, Linux")));
    await player.press("button", en.account.removePasskeyAction);
    await player.sees(en.account.noPasskeys);
  });

  test("staff pages and impossible names are not found on the panel's host", async () => {
    const { player, addressOf, inspect } = fixture();
    for (const path of ["/admin/templates", "/nothing", "/servers/NOT-A-NAME"]) {
      await player.open(addressOf("panel_host", path));
      await player.sees(en.shell.home);
    }
    await player.sees(en.server.notFound("NOT-A-NAME"));
    await inspect(player, "not-found");
  });

  for (const addTests of isWhole ? serverAreas : sampledAreas) addTests(fixture);

  test("the page speaks Chinese and keeps its choice", async () => {
    const { player, addressOf, inspect } = fixture();
    await player.open(addressOf("panel_host", "/"));
    await player.page.select(`::-p-aria([name="${en.shell.language}"][role="combobox"])`, "zh-CN");
    await player.sees("总览");
    await player.open(addressOf("panel_host", "/servers"));
    assert.equal(await player.page.evaluate(() => document.documentElement.lang), "zh-CN");
    await player.sees(/\d 台服务器/);
    await inspect(player, "servers-chinese");
  });

  test("a session that ends elsewhere is said under the page, which stays", async () => {
    const { owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/servers/new"));
    await owner.fill(en.create.name, "kept-name");
    await owner.page.evaluate(() => fetch("/api/v1/auth/logout", { method: "POST" }));
    await owner.press("button", en.create.submit);
    await owner.sees(en.shell.sessionEnded);
    await inspect(owner, "session-ended");
    await owner.page.keyboard.press("Escape");
    const typed = await owner.page.$eval("input[name=name]", (field) => (field as HTMLInputElement).value);
    assert.equal(typed, "kept-name");
  });
});
