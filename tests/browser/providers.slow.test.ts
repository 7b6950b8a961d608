// Signing in with a real OpenID provider in a real browser, on a whole stack. SVC_BROWSER_LANE names the browser, such as
// /usr/bin/chromium.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { after, afterEach, before, describe, test } from "node:test";
import type { Browser } from "puppeteer-core";
import { saveSession } from "../../services/cli/src/account/session-file.ts";
import { startTestProvider, type TestProvider } from "../../services/identity/src/testing/openid-provider.ts";
import { en } from "../../services/panel/src/words/en/index.ts";
import { provider as words } from "../../services/panel/src/words/en/provider.ts";
import { provider as chinese } from "../../services/panel/src/words/zh/provider.ts";
import { type Stack, startStack, withoutGame } from "../flow/stack.ts";
import { startBrowser } from "./browser.ts";
import { inspect } from "./inspect.ts";
import { assertNoFaults, createPerson, type Person } from "./person.ts";

const binary = process.env["SVC_BROWSER_LANE"];
const settings = (issuer: string) =>
  `identity.oidc_provider=[${[
    `{ id = "works", issuer = "${issuer}", client_id = "public", client_auth = "none"`,
    'name_en = "Works", name_zh = "公司", allow_sign_up = true',
    'roles = [{ claim = "groups", value = "staff", role = "admin" }], staff_amr = ["mfa"] }',
  ].join(", ")}]`;

describe("OpenID providers in a browser", () => {
  if (!binary || !existsSync(binary)) {
    test("skipped: set SVC_BROWSER_LANE to the browser, such as /usr/bin/chromium", (t) => t.skip());
    return;
  }
  let stack: Stack;
  let browser: Browser;
  let provider: TestProvider;
  const people: Person[] = [];
  const addressOf = (host: "panel_host" | "admin_host", path: string) => {
    const file = stack.file();
    return `http://${file[host]}:${new URL(file.external_base_url).port}${path}`;
  };
  const somebody = async () => {
    const person = await createPerson(browser);
    people.push(person);
    return person;
  };
  const looksWell = async (person: Person, name: string) =>
    assert.deepEqual(await inspect(person, name, { isWhole: true }), []);
  const nameOf = async (person: Person) =>
    String(((await person.request("GET", "/me")).body as { username?: string }).username);

  before(async () => {
    provider = await startTestProvider([]);
    stack = await startStack([...withoutGame, "--set", settings(provider.issuer)]);
    provider.register(
      (["panel_host", "admin_host"] as const).map((host) => addressOf(host, "/login/oidc/works")),
    );
    browser = await startBrowser(binary);
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
    await provider?.stop();
  });
  afterEach(() => {
    provider.cancels = false;
    provider.interfere = undefined;
    for (const person of people) assertNoFaults(person);
  });

  test("a newcomer comes in by the provider, and goes on where they wanted to be", async () => {
    const person = await somebody();
    provider.person = { sub: "newcomer", claims: { preferred_username: "newcomer" } };
    await person.open(addressOf("panel_host", "/account"));
    await person.isAt("/login");
    await person.sees(words.offer("Works"));
    // Beside the other ways in: below them only the way to the other host.
    const order = await person.page.$$eval("#root form :is(button, a)", (all) =>
      all.map(({ textContent }) => textContent),
    );
    assert.deepEqual(order.slice(-3), [en.signIn.game, words.offer("Works"), en.signIn.staffHost]);
    await looksWell(person, "providers-sign-in");
    await person.press("button", words.offer("Works"));
    await person.isAt("/account");
    await person.sees("newcomer");
    await person.sees(words.title);
    assert.equal(await person.page.evaluate(() => location.search + location.hash), "");
    await looksWell(person, "providers-account");
    // The only way in stays.
    await person.press("button", words.unlinkOf("\u2068Works\u2069"));
    await person.press("button", words.unlinkAction);
    await person.sees(en.faults.last_way_in);
  });

  test("who came from the game links an identity and signs in with it, until it is unlinked", async () => {
    const person = await somebody();
    provider.person = { sub: "player", claims: { preferred_username: "elsewhere" } };
    await person.open(addressOf("panel_host", "/login"));
    const minted = await stack.internal("POST", "/api/v1/internal/account/link/code", {
      mc_uuid: randomUUID(),
    });
    const { code } = minted.body as { code: string };
    const bound = await person.request("POST", "/auth/bind", { code });
    assert.equal(bound.status, 200, JSON.stringify(bound.body));
    await person.open(addressOf("panel_host", "/account"));
    const own = await nameOf(person);
    await person.press("button", words.link("Works"));
    await person.sees("Works: elsewhere");
    await person.isAt("/account");
    await person.press("button", en.shell.signOut);
    await person.isAt("/login");
    await person.press("button", words.offer("Works"));
    await person.isAt("/");
    assert.equal(await nameOf(person), own);
    const cookies = await person.page.cookies();
    const value = cookies.find((cookie) => cookie.name === "svc_session")?.value ?? "";
    saveSession(stack.dataDir, { value, panelHost: "panel" });
    const linked = await stack.svc("account", "identities");
    assert.match(linked.stdout, /Works +elsewhere +linked/, linked.stderr);
    const planned = await stack.svc("account", "unlink-identity", "works");
    assert.match(planned.stdout, /Works \(elsewhere\) will no longer open .*\nNothing was done; add --yes/);
    assert.match((await stack.svc("account", "identities")).stdout, /Works +elsewhere +linked/);
    const unlinked = await stack.svc("account", "unlink-identity", "works", "--yes");
    assert.match(unlinked.stdout, /no longer opens your account/, unlinked.stderr);
    assert.match((await stack.svc("account", "identities")).stdout, /Works +- +not linked/);
    await person.open(addressOf("panel_host", "/account"));
    await person.sees(words.none);
  });

  test("claims make an admin, who is asked for a way in of their own first", async () => {
    const person = await somebody();
    provider.person = {
      sub: "operator",
      claims: { groups: ["staff"], preferred_username: "operator" },
      amr: ["mfa"],
    };
    await person.open(addressOf("admin_host", "/login"));
    await looksWell(person, "providers-operator");
    await person.press("button", words.offer("Works"));
    await person.isAt("/setup");
    await person.press("button", en.setup.passkeyAdd);
    await person.press("link", en.setup.goOn);
    await person.isAt("/");
    const { body } = await person.request("GET", "/me");
    assert.equal(body["role"], "admin");
  });

  test("staff without a second factor read why they are not let in", async () => {
    const person = await somebody();
    provider.person = { sub: "operator", claims: { groups: ["staff"] }, amr: ["pwd"] };
    await person.open(addressOf("admin_host", "/login"));
    await person.press("button", words.offer("Works"));
    await person.sees(en.faults.staff_account);
    await looksWell(person, "providers-refused");
    await person.press("link", words.toSignIn);
    await person.isAt("/login");
  });

  test("an answer in another browser, tab or a second time signs nobody in", async () => {
    const [attacker, victim] = [await somebody(), await somebody()];
    provider.person = { sub: "attacker" };
    await attacker.open(addressOf("panel_host", "/login"));
    let answer = "";
    await attacker.page.setRequestInterception(true);
    attacker.page.on("request", (request) => {
      if (!request.url().includes("/login/oidc/works?")) return void request.continue();
      answer = request.url();
      void request.respond({ status: 200, contentType: "text/plain", body: "kept" });
    });
    await attacker.press("button", words.offer("Works"));
    await attacker.page.waitForFunction(() => document.body.textContent === "kept");
    await victim.open(answer);
    await victim.sees(words.elsewhere);
    assert.equal((await victim.request("GET", "/me")).status, 401);
    await looksWell(victim, "providers-elsewhere");
    victim.faults();
  });

  test("who breaks off at the provider, or finds it away, reads so and can go on otherwise", async () => {
    const person = await somebody();
    provider.person = { sub: "undecided" };
    provider.cancels = true;
    await person.open(addressOf("panel_host", "/login"));
    await person.press("button", words.offer("Works"));
    await person.sees(words.cancelled);
    await person.press("link", words.toSignIn);
    await person.isAt("/login");
    provider.cancels = false;
    provider.interfere = ({ url }, response) => {
      if (url !== "/token") return false;
      response.writeHead(500).end();
      return true;
    };
    await person.press("button", words.offer("Works"));
    await person.sees(en.faults.oidc_unavailable);
    person.faults();
  });

  test("in Chinese the provider has its other name", async () => {
    const person = await somebody();
    await person.open(addressOf("panel_host", "/login"));
    await person.page.evaluate(() => localStorage.setItem("svc.language", "zh-CN"));
    await person.open(addressOf("panel_host", "/login"));
    await person.sees(chinese.offer("公司"));
    await looksWell(person, "providers-chinese");
  });
});
