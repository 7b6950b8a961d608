// What every package and every source file looks like from the outside.

import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";

const root = resolve(import.meta.dirname, "../..");
const maxLines = 400;

const read = (file: string) => readFileSync(join(root, file), "utf8");
const find = (pattern: string) =>
  globSync(pattern, { cwd: root, exclude: (path) => path.includes("node_modules") }).sort();

test("every service and every library has a README", () => {
  const packages = globSync(["proto", "libs/*", "services/*"], { cwd: root });
  const missing = packages.filter((folder) => !existsSync(join(root, folder, "README.md")));
  assert.deepEqual(missing, []);
});

test(`no file has more than ${maxLines} lines`, () => {
  const long = find("{proto,libs,services,tests,docs}/**/*.{ts,tsx,css}").filter(
    (file) => read(file).split("\n").length - 1 > maxLines,
  );
  assert.deepEqual(long, []);
});

test("tests that run a sample unless --whole is given are named *.sampled.test.ts", () => {
  const isSampled = (file: string) => /^(import|\}) .*from "@svc\/config\/testing"/m.test(read(file));
  const wrong = find("{libs,services,tests}/**/*.test.ts").filter(
    (file) => isSampled(file) !== file.endsWith(".sampled.test.ts"),
  );
  assert.deepEqual(wrong, []);
});

test("every package declares the packages of svc that it imports", () => {
  const wrong = ["proto", ...globSync(["libs/*", "services/*"], { cwd: root })].flatMap((folder) => {
    const manifest = JSON.parse(read(`${folder}/package.json`));
    const declared = { ...manifest.dependencies, ...manifest.devDependencies };
    const imported = find(`${folder}/src/**/*.ts`).flatMap((file) =>
      [...read(file).matchAll(/from "(@svc\/[a-z-]+)/g)].map(([, name]) => String(name)),
    );
    const missing = new Set(imported.filter((name) => name !== manifest.name && !(name in declared)));
    return [...missing].map((name) => `${folder} imports ${name}`);
  });
  assert.deepEqual(wrong, []);
});
