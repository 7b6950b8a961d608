import assert from "node:assert/strict";
import { test } from "node:test";
import { zh } from "../../services/panel/src/words/zh/index.ts";
import type { Area } from "./fixture.ts";
import { makeServer } from "./make-server.ts";
import { sampledAddresses } from "./routes.ts";

/** Every page in Chinese, as a person whose browser asks for it has it. */
export const addChineseTests: Area = (fixture) => {
  test("there is a server, whose pages are looked at too", () => makeServer(fixture()));
  for (const [, path] of sampledAddresses(2))
    test(`${path} in Chinese`, async () => {
      const { owner, addressOf, inspect } = fixture();
      await owner.page.evaluate(() => localStorage.setItem("svc.language", "zh-CN"));
      await owner.open(addressOf("admin_host", path));
      await owner.page.waitForFunction(() => document.documentElement.lang === "zh-CN");
      const shown = await owner.page.$eval("main", ({ textContent }) => textContent);
      for (const missing of [zh.shell.notFoundHelp, zh.server.notFound("survival")])
        assert.ok(!shown.includes(missing), `${path} is missing`);
      // In English every page is looked at by its own tests.
      await inspect(owner, `zh${path.replaceAll("/", "-")}`, { isInBothLanguages: false });
      await owner.page.evaluate(() => localStorage.removeItem("svc.language"));
    });
};
