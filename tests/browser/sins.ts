// Whoever looks at the pages has to see what is wrong with one.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Area } from "./fixture.ts";
import { inspect } from "./inspect.ts";
import { tabTo } from "./keyboard.ts";
import { createPerson } from "./person.ts";

export const addSinTests: Area = (fixture) => {
  test("a page that is pale, too wide, or hides where the focus is, is caught", async () => {
    const { browser, addressOf } = fixture();
    const faulty = await createPerson(browser);
    await faulty.open(addressOf("panel_host", "/login"));
    await faulty.page.evaluate(() => {
      const pale = document.createElement("p");
      pale.textContent = "Pale words that nobody can read";
      pale.style.cssText = "color: #999; background: #888";
      const wide = document.createElement("div");
      wide.textContent = "Wide";
      wide.style.width = "2000px";
      const button = document.createElement("button");
      button.textContent = "Unmarked";
      button.style.cssText = "outline: none; box-shadow: none";
      document.querySelector("main")?.append(pale, wide, button);
    });
    const findings = await inspect(faulty, "sins", { isWhole: false });
    assert.ok(
      findings.some((finding) => finding.includes("color-contrast")),
      findings.join("\n"),
    );
    assert.ok(
      findings.some((finding) => finding.includes("wider than 360 px")),
      findings.join("\n"),
    );
    await assert.rejects(tabTo(faulty, "button", "Unmarked"), /has the focus and does not show it/);
    await faulty.page.evaluate(() => {
      const cover = document.createElement("div");
      cover.style.cssText = "position: fixed; inset: 0; z-index: 99";
      document.body.append(cover);
    });
    await assert.rejects(tabTo(faulty, "button", "Unmarked"), /is covered/);
    await faulty.leave();
  });
};
