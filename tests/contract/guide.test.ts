// What the user guide and the README promise is there: pictures, pages of the panel and the words on its buttons.

import assert from "node:assert/strict";
import { existsSync, globSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { describe, test } from "node:test";
import { routes } from "../../services/panel/src/app/routes.ts";
import { groups } from "../../services/panel/src/words/en/groups.ts";
import { health } from "../../services/panel/src/words/en/health.ts";
import { en } from "../../services/panel/src/words/en/index.ts";
import { knownPlayers } from "../../services/panel/src/words/en/known-players.ts";
import { packs } from "../../services/panel/src/words/en/packs.ts";
import { plugins } from "../../services/panel/src/words/en/plugins.ts";
import { status } from "../../services/panel/src/words/en/status.ts";
import { templates } from "../../services/panel/src/words/en/templates.ts";
import { webhooks } from "../../services/panel/src/words/en/webhooks.ts";

const root = resolve(import.meta.dirname, "../..");
const pictures = join(root, "docs/guide/pictures");
const maxBytes = 1_500_000;
/** Typed in the game, not in the address bar. */
const gameCommands: ReadonlySet<string> = new Set(["/menu", "/felis lobby"]);

type Page = { file: string; text: string };
const pages: Page[] = ["README.md", ...globSync("docs/guide/*.md", { cwd: root })].map((file) => ({
  file,
  text: readFileSync(join(root, file), "utf8"),
}));
const guide = pages.filter(({ file }) => file.startsWith("docs/guide/"));

const found = (of: readonly Page[], pattern: RegExp) =>
  of.flatMap(({ file, text }) => [...text.matchAll(pattern)].map(([, what = ""]) => ({ file, what })));

const picturesOf = (of: readonly Page[]) => found(of, /(?:!\[[^\]]*\]\(|srcset="|src=")([^)"]+\.webp)/g);
const routesOf = (of: readonly Page[]) =>
  found(of, /`(\/[^`]*)`/g).filter(({ what }) => !gameCommands.has(what));
const wordsOf = (of: readonly Page[]) => found(of, /\*\*([^*\n]+)\*\*/g);

function textsOf(catalogue: object): string[] {
  return Object.values(catalogue).flatMap((value: unknown) => {
    if (typeof value === "string") return [value];
    return typeof value === "object" && value !== null ? textsOf(value) : [];
  });
}

const paths: ReadonlySet<string> = new Set(routes.map(({ path }) => path));
const texts: ReadonlySet<string> = new Set(
  textsOf({ ...en, ...packs, ...health, webhooks, status, knownPlayers, plugins, groups, templates }),
);
const missingPictures = (of: readonly Page[]) =>
  picturesOf(of).filter(({ file, what }) => !existsSync(join(root, dirname(file), what)));
const missingRoutes = (of: readonly Page[]) => routesOf(of).filter(({ what }) => !paths.has(what));
const missingWords = (of: readonly Page[]) => wordsOf(of).filter(({ what }) => !texts.has(what));

describe("the user guide", () => {
  test("shows pictures that exist", () => {
    assert.ok(picturesOf(guide).length > 10);
    assert.deepEqual(missingPictures(pages), []);
  });

  test("shows every picture, and they are small", () => {
    const shown = new Set(picturesOf(pages).map(({ what }) => basename(what)));
    const files = readdirSync(pictures);
    assert.deepEqual(
      files.filter((file) => !shown.has(file)),
      [],
    );
    const bytes = files.reduce((sum, file) => sum + statSync(join(pictures, file)).size, 0);
    assert.ok(bytes <= maxBytes, `the pictures have ${bytes} bytes`);
  });

  test("names pages that the panel has", () => {
    assert.ok(routesOf(guide).length > 10);
    assert.deepEqual(missingRoutes(guide), []);
  });

  test("names buttons and fields by the words that stand there", () => {
    assert.ok(wordsOf(guide).length > 40);
    assert.deepEqual(missingWords(guide), []);
  });

  test("is caught when it does not", () => {
    const text = "`/servers/:name/nothing` **No such button** ![gone](pictures/gone.webp) `/menu` **Claim**";
    const wrong = [{ file: "docs/guide/players.md", text }];
    assert.deepEqual(missingPictures(wrong)[0]?.what, "pictures/gone.webp");
    assert.deepEqual(missingRoutes(wrong)[0]?.what, "/servers/:name/nothing");
    assert.deepEqual(
      missingWords(wrong).map(({ what }) => what),
      ["No such button"],
    );
  });
});
