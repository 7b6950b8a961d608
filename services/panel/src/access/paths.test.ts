import assert from "node:assert/strict";
import { test } from "node:test";
import { isWithin, startsIn } from "./paths.ts";

test("an access covers its paths and what is below them", () => {
  const paths = ["plugins/Essentials", "server.properties"];
  const cases: [path: string, isCovered: boolean][] = [
    ["plugins/Essentials", true],
    ["plugins/Essentials/config.yml", true],
    ["plugins/EssentialsX", false],
    ["plugins", false],
    ["", false],
    ["server.properties", true],
  ];
  for (const [path, isCovered] of cases) assert.equal(isWithin(path, paths), isCovered, path);
  assert.ok(isWithin("anything", undefined));
  assert.equal(isWithin("anything", []), false);
});

test("above them it begins at the paths themselves", () => {
  const paths = ["plugins/Essentials", "world"];
  assert.deepEqual(startsIn("", paths), paths);
  assert.deepEqual(startsIn("plugins", paths), ["plugins/Essentials"]);
  assert.equal(startsIn("world/region", paths), undefined);
  assert.equal(startsIn("", undefined), undefined);
});
