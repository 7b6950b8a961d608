import assert from "node:assert/strict";
import { test } from "node:test";
import { within } from "./target.ts";

const targets: [path: string, target: string][] = [
  ["plugins/", "plugins/a.jar"],
  ["plugins/b.jar", "plugins/b.jar"],
  ["/", "a.jar"],
  ["/plugins/", "plugins/a.jar"],
  ["/b.jar", "b.jar"],
];
for (const [path, target] of targets)
  test(`a.jar put at ${path} becomes ${target}`, () => assert.equal(within(path, "a.jar"), target));
