// Sign-in as the document shows it while the scripts are on their way, and what becomes of what is done there meanwhile.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { HTTPRequest } from "puppeteer-core";
import { en } from "../../services/panel/src/words/en/index.ts";
import { zh } from "../../services/panel/src/words/zh/index.ts";
import type { Area } from "./fixture.ts";
import { createPerson, type Person, selectorOf } from "./person.ts";

const shown = "#first-view";

/** Opens sign-in with every script but the first held back; the answer lets them go. */
async function openHeld(person: Person, address: string): Promise<() => Promise<void>> {
  const { page } = person;
  const held: HTTPRequest[] = [];
  let isHolding = true;
  await page.setRequestInterception(true);
  const hold = (request: HTTPRequest) => {
    const isLater = request.url().includes("/assets/base-");
    if (isHolding && isLater) held.push(request);
    else void request.continue();
  };
  page.on("request", hold);
  const opened = page.goto(address);
  await page.waitForSelector(`${shown} h1`);
  return async () => {
    isHolding = false;
    await Promise.all(held.map((request) => request.continue()));
    await opened;
    await page.waitForSelector("#root h1");
    page.off("request", hold);
    await page.setRequestInterception(false);
  };
}

/** Where everything stands that the form consists of. */
const placesOf = ({ page }: Person, within: string) =>
  page.$$eval(`${within} :is(h1, form button, form input, form a, form p, form label)`, (all) =>
    all.map((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return [element.tagName, element.textContent, x, y, width, height];
    }),
  );

export const addFirstViewTests: Area = (fixture) => {
  for (const host of ["panel_host", "admin_host"] as const)
    test(`sign-in on ${host} stands there before the scripts, where it stays`, async () => {
      const { browser, addressOf } = fixture();
      for (const [language, words] of [
        ["en", en],
        ["zh-CN", zh],
      ] as const) {
        const person = await createPerson(browser);
        const agent = await browser.userAgent();
        await person.session.send("Network.setUserAgentOverride", {
          userAgent: agent,
          acceptLanguage: language,
        });
        const release = await openHeld(person, addressOf(host, "/login"));
        const { title, operatorTitle } = words.signIn;
        await person.sees(host === "admin_host" ? operatorTitle : title);
        assert.equal(await person.page.evaluate(() => document.documentElement.lang), language);
        const links = () => person.page.$$eval("form a", (all) => all.map(({ href }) => href));
        const before = [await placesOf(person, shown), await links()];
        await release();
        assert.deepEqual([await placesOf(person, "#root"), await links()], before);
        assert.equal(await person.page.$(shown), null);
        assert.deepEqual(person.faults(), []);
        await person.leave();
      }
    });

  test("what is typed before the scripts are there stays, with the place where it is typed", async () => {
    const { browser, addressOf } = fixture();
    const person = await createPerson(browser);
    const release = await openHeld(person, addressOf("panel_host", "/login"));
    await person.page.click(`${shown} input`);
    await person.page.keyboard.type("ada@example");
    await release();
    await person.page.keyboard.type(".org");
    const field = await person.page.$("#root input[name=email]");
    assert.equal(await field?.evaluate((element) => (element as HTMLInputElement).value), "ada@example.org");
    assert.deepEqual(person.faults(), []);
    await person.leave();
  });

  test("what is pressed before the scripts are there happens when they are", async () => {
    const { browser, addressOf } = fixture();
    const person = await createPerson(browser);
    const release = await openHeld(person, addressOf("panel_host", "/login"));
    // Readers, and so this search, find the form that stays.
    assert.equal(await person.page.$(selectorOf("button", en.signIn.game)), null);
    const buttons = await person.page.$$(`${shown} form button`);
    await buttons.at(-1)?.click();
    const before = person.page.url();
    await person.page.focus(`${shown} input`);
    await person.page.keyboard.press("Enter");
    assert.equal(person.page.url(), before);
    await release();
    await person.sees(en.signIn.gameTitle);
    assert.deepEqual(person.faults(), []);
    await person.leave();
  });
};
