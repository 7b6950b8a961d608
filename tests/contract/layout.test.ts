// What every package and every source file looks like from the outside.

import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";

const root = resolve(import.meta.dirname, "../..");
const mostLines = 400;

test("every service and every library has a README", () => {
  const packages = globSync(["proto", "libs/*", "services/*"], { cwd: root });
  const missing = packages.filter((folder) => !existsSync(join(root, folder, "README.md")));
  assert.deepEqual(missing, []);
});

test(`no source file but a test has more than ${mostLines} lines`, () => {
  const files = globSync(["{proto,libs,services}/**/*.ts", "docs/**/*.ts"], {
    cwd: root,
    exclude: (path) => path.includes("node_modules"),
  }).filter((file) => !file.endsWith(".test.ts"));
  const long = files
    .map((file) => ({ file, lines: readFileSync(join(root, file), "utf8").split("\n").length - 1 }))
    .filter(({ lines }) => lines > mostLines)
    .map(({ file, lines }) => `${file}: ${lines}`);
  assert.deepEqual(long, []);
});
