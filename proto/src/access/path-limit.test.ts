import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isWithin, PathPrefix, reveals } from "./path-limit.ts";

const inside = [
  "plugins",
  "plugins/x",
  "plugins/x/y.yml",
  "world/region/r.0.0.mca",
  "plugins/..x",
  "plugins/x..",
];
const outside = [
  ...[
    "",
    ".",
    "/",
    "..",
    "plugin",
    "pluginsx",
    "plugins2/x",
    "server.properties",
    "Plugins/x",
    "world",
    "world/regio",
  ],
  ...["plugins/../ops.json", "plugins/./x", "plugins//x", "/plugins", "plugins/", "plugins/..", "./plugins"],
  ...[
    "plugins\\..\\ops.json",
    "plugins/x\\y",
    "plugins/\0",
    "plugins/a\nb",
    "plugins/\ud800",
    "world/region/../../ops.json",
  ],
];
describe("below plugins and world/region", () => {
  for (const path of inside) test(`is ${path}`, () => assert.ok(isWithin(path, ["plugins", "world/region"])));
  for (const path of outside)
    test(`is not ${JSON.stringify(path)}`, () => assert.ok(!isWithin(path, ["plugins", "world/region"])));
  test("nothing is below an empty list", () => assert.ok(!isWithin("plugins", [])));
});

describe("a prefix", () => {
  for (const [given, kept] of [
    ["plugins", "plugins"],
    ["/plugins/x/", "plugins/x"],
    ["a b/ü", "a b/ü"],
  ] as const)
    test(`${given} is kept as ${kept}`, () => assert.equal(PathPrefix.parse(given), kept));
  for (const given of [
    "",
    "/",
    ".",
    "..",
    "a/../b",
    "a/./b",
    "a//b",
    "a\\b",
    "a\0",
    "a\n",
    "x".repeat(1_025),
  ])
    test(`${JSON.stringify(given)} is refused`, () => assert.ok(!PathPrefix.safeParse(given).success));
});

test("no path made of hostile names is below a prefix unless its names begin with the prefix's", () => {
  const names = ["plugins", "..", ".", "", "x", "\\", "plugins\\x", "%2e%2e", "\0", "plugin", "PLUGINS"];
  const combine = (depth: number): string[][] =>
    depth === 0 ? [[]] : combine(depth - 1).flatMap((path) => names.map((name) => [...path, name]));
  for (const path of [1, 2, 3, 4].flatMap(combine)) {
    if (!isWithin(path.join("/"), ["plugins/x"])) continue;
    assert.deepEqual(path.slice(0, 2), ["plugins", "x"]);
    assert.ok(!path.some((name) => name === ".." || name === "." || name === "" || name.includes("\\")));
  }
});

describe("who may read plugins/x is shown something else by a move of world/secret", () => {
  const set = ".svc/set-aside/20260101T000000Z";
  const rows: [to: string, isShown: boolean][] = [
    ["plugins/x/secret", true],
    ["plugins", true],
    ["", true],
    ["world/other", false],
    // Out of a set it comes to where its path in the set says.
    [`${set}/plugins/x/secret`, true],
    [`${set}/plugins`, true],
    [set, true],
    [".svc/set-aside", true],
    [".svc", true],
    [`${set}/mods/secret`, false],
    [".svc/plugins.json", false],
    [".svc2/set-aside/a/plugins/x", false],
  ];
  for (const [to, isShown] of rows)
    test(`to ${JSON.stringify(to)}: ${isShown}`, () =>
      assert.equal(reveals({ from: "world/secret", to }, ["plugins/x"]), isShown));
  test("nor is anything by a safe start, which moves each file into its own place of a set", () => {
    assert.equal(reveals({ from: "plugins", to: `${set}/plugins` }, ["plugins/x"]), false);
    assert.equal(reveals({ from: "plugins", to: `${set}/plugins` }, [".svc"]), true);
  });
});
