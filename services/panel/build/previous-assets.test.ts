import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { keepPreviousAssets } from "./previous-assets.ts";

const builds = mkdtempSync(join(tmpdir(), "svc-builds-"));
after(() => rmSync(builds, { recursive: true }));

function writeBuild(
  name: string,
  assets: string[],
  manifest?: { built_at: number; previous: object },
): string {
  const folder = join(builds, name);
  mkdirSync(join(folder, "assets"), { recursive: true });
  for (const asset of assets) writeFileSync(join(folder, "assets", asset), asset);
  if (manifest) writeFileSync(join(folder, "build.json"), JSON.stringify({ routes: [], ...manifest }));
  return folder;
}

test("the own assets of the newest build before stay for a day, those that it had kept go", () => {
  writeBuild("old", ["ancient-1.js"], { built_at: 1, previous: {} });
  writeBuild("new", ["same-1.js", "gone-1.js", "gone-1.js.br", "kept-1.js"], {
    built_at: 2,
    previous: { "kept-1.js": 5 },
  });
  const folder = writeBuild(".partial", ["same-1.js", "fresh-1.js"]);
  const now = 1_000;
  assert.deepEqual(keepPreviousAssets(builds, folder, now), { "gone-1.js": now + 86_400_000 });
  assert.deepEqual(readdirSync(join(folder, "assets")).sort(), [
    "fresh-1.js",
    "gone-1.js",
    "gone-1.js.br",
    "same-1.js",
  ]);
});

test("a first build keeps nothing", () => {
  const folder = writeBuild(".first", ["a.js"]);
  assert.deepEqual(keepPreviousAssets(join(builds, "none"), folder, 1), {});
});
