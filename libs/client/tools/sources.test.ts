import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { manifestOf } from "./manifest.ts";
import { collectSources } from "./sources.ts";

const root = resolve(import.meta.dirname, "../../..");
const sources = collectSources(root, ["published/index.ts", "published/core.ts"]);

test("the package holds every file that it imports, and needs nothing but zod", () => {
  const paths = new Set(sources.map(({ path }) => path));
  for (const { path, text } of sources)
    for (const [, from = ""] of text.matchAll(/^(?:import|export|\}) .*from "([^"]+)";$/gm)) {
      const isInside = paths.has(new URL(from, `file:///${path}`).pathname.slice(1));
      assert.ok(from === "zod" || isInside, `${path} imports ${from}`);
    }
});

test("the package has the contracts of what a token opens, and none of builds or of the watchdog", () => {
  const folders = new Set(sources.map(({ path }) => path.split("/").slice(0, 2).join("/")));
  assert.ok(folders.has("proto/lifecycle") && folders.has("proto/storage"));
  for (const folder of ["proto/builds", "proto/nats", "proto/ops-watchdog", "proto/catalog.ts"])
    assert.equal(folders.has(folder), false, folder);
});

test("the manifest names the repository only when it is known", () => {
  const origin = { version: "1.2.3", license: "Apache-2.0", zod: "4.0.0", repository: undefined };
  assert.equal("repository" in manifestOf(origin), false);
  const { repository, version } = manifestOf({ ...origin, repository: "https://git.example.net/svc" });
  assert.deepEqual([version, repository?.url], ["1.2.3", "https://git.example.net/svc"]);
});
