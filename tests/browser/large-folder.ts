// A folder with more entries than anybody reads: what is drawn stays few, and the page says what it leaves out.

import assert from "node:assert/strict";
import { globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { en } from "../../services/panel/src/words/en/index.ts";
import type { Area } from "./fixture.ts";

const entries = 20_000;
/** More than any window shows at once. */
const mostDrawn = 400;

/** With a server `survival` that is asleep and has a world. */
export const addLargeFolderTests: Area = (fixture) => {
  test(`a folder of ${entries} entries is listed and read to its end`, async () => {
    const { stack, owner, addressOf, inspect } = fixture();
    const [world] = globSync("**/volumes/minecraft-*survival*", { cwd: stack.dataDir });
    assert.ok(world !== undefined, "the world's folder");
    const folder = join(stack.dataDir, world, "many");
    mkdirSync(folder);
    for (let at = 0; at < entries; at++)
      writeFileSync(join(folder, `entry-${String(at).padStart(5, "0")}`), "");
    await owner.open(addressOf("admin_host", "/servers/survival/files?path=many"));
    await owner.sees("entry-00000");
    const { body } = await owner.request("GET", "/servers/survival/files?path=many");
    const listed = (body["entries"] as { name: string }[]).map(({ name }) => name).sort();
    if (body["truncated"] === true) await owner.sees(en.files.truncated);
    else assert.equal(listed.length, entries);
    const drawn = await owner.page.$$eval("main [role=row]", ({ length }) => length);
    assert.ok(drawn > 1 && drawn <= mostDrawn, `${drawn} rows are drawn`);
    await owner.page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
    await owner.sees(listed.at(-1) ?? "");
    // A row that lies half below the bar of a phone has a button that is too small for axe.
    await owner.page.evaluate(() => window.scrollTo(0, 0));
    await owner.sees("entry-00000");
    await inspect(owner, "files-many");
    rmSync(folder, { recursive: true });
  });
};
