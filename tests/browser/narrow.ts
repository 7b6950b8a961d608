// The narrowest window that counts: 320 px, a desk at 400 %. Nothing is wider, and the keys find the way to the content.

import assert from "node:assert/strict";
import { test } from "node:test";
import { en } from "../../services/panel/src/words/en/index.ts";
import type { Area } from "./fixture.ts";
import { sampledAddresses } from "./routes.ts";

export const addNarrowTests: Area = (fixture) => {
  test("pages fit into 320 px, and the first stop of the keys skips to their content", async () => {
    const { owner, addressOf } = fixture();
    const { page } = owner;
    await page.setViewport({ width: 320, height: 640 });
    const wide: string[] = [];
    for (const [, path] of sampledAddresses(5)) {
      await owner.open(addressOf("admin_host", path));
      const found = await page.evaluate(() => ({
        overflow: document.documentElement.scrollWidth - innerWidth,
        widest: [...document.querySelectorAll("main *")]
          .filter((element) => element.getBoundingClientRect().right > innerWidth)
          .map((element) => element.outerHTML.slice(0, 120)),
        headings: document.querySelectorAll("h1").length,
        mains: document.querySelectorAll("main").length,
      }));
      if (found.overflow > 0) wide.push(`${path} by ${found.overflow}: ${found.widest.join(" ")}`);
      assert.deepEqual([found.headings, found.mains], [1, 1], path);
      await page.keyboard.press("Tab");
      assert.equal(await page.evaluate(() => document.activeElement?.textContent), en.shell.skip, path);
    }
    await page.setViewport({ width: 1_440, height: 900 });
    assert.deepEqual(wide, []);
  });
};
