// A folder with more entries than one listing has: it is listed page by page, and what is drawn stays few.

import assert from "node:assert/strict";
import { globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { en } from "../../services/panel/src/words/en/index.ts";
import type { Area } from "./fixture.ts";

const entries = 12_000;
/** Names of one listing; the next one begins with the last of them. */
const perPage = 5_000;
/** More than any window shows at once. */
const mostDrawn = 400;

/** With a server `survival` that is asleep and has a world. */
export const addLargeFolderTests: Area = (fixture) => {
  test(`a folder of ${entries} entries is listed page by page to its end, and read again in its pages`, async () => {
    const { stack, owner, addressOf, inspect } = fixture();
    const [world] = globSync("**/volumes/minecraft-*survival*", { cwd: stack.dataDir });
    assert.ok(world !== undefined, "the world's folder");
    const folder = join(stack.dataDir, world, "many");
    mkdirSync(folder);
    for (let at = 0; at < entries; at++)
      writeFileSync(join(folder, `entry-${String(at).padStart(5, "0")}`), "");
    await owner.open(addressOf("admin_host", "/servers/survival/files?path=many"));
    await owner.sees("entry-00000");
    await owner.sees(en.files.truncated(perPage));
    await inspect(owner, "files-first-page");
    for (let listed = perPage; listed < entries; listed += perPage - 1) {
      await owner.sees(en.files.truncated(listed));
      await owner.sees(en.files.entries(listed));
      await owner.press("button", en.files.listMore);
    }
    await owner.sees(en.files.entries(entries));
    await owner.seesNo(en.files.listMore);
    const drawn = await owner.page.$$eval("main [role=row]", ({ length }) => length);
    assert.ok(drawn > 1 && drawn <= mostDrawn, `${drawn} rows are drawn`);
    await owner.page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
    await owner.sees(`entry-${entries - 1}`);
    // A row that lies half below the bar of a phone has a button that is too small for axe.
    await owner.page.evaluate(() => window.scrollTo(0, 0));
    await owner.sees("entry-00000");
    await inspect(owner, "files-many");
    rmSync(join(folder, "entry-00001"));
    await owner.press("button", en.files.refresh);
    await owner.sees(en.files.entries(entries - 1));
    await owner.seesNo(en.files.listMore);
    rmSync(folder, { recursive: true });
  });
};
