// What a file exports, another one imports: an export that nobody uses keeps dead code alive, since no linter reports it.

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, resolve } from "node:path";
import { describe, test } from "node:test";

type Sources = ReadonlyMap<string, string>;

const root = resolve(import.meta.dirname, "../..");
/** What installed programs import is used by nobody here. */
const published = /^libs\/client\/src\/(index\.ts$|published\/)/;

const declared =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|const|let|class|type|interface|enum) (\w+)/gm;
const listed =
  /\b(import|export)\s+(?:type\s+)?(?:\w+\s*,\s*)?(\{[^}]*\}|\*(?:\s+as\s+\w+)?)\s*from\s*"([^"]+)"/g;
const lazy = /\bimport\(\s*"([^"]+)"\s*\)/g;

/** The files behind the names by which packages import each other. */
function readEntries(): ReadonlyMap<string, string> {
  const entries = new Map<string, string>();
  for (const file of globSync(["proto/package.json", "{libs,services}/*/package.json"], { cwd: root })) {
    const { name, exports } = JSON.parse(readFileSync(join(root, file), "utf8"));
    const paths: Record<string, string> = typeof exports === "string" ? { ".": exports } : (exports ?? {});
    for (const [path, target] of Object.entries(paths))
      entries.set(name + path.slice(1), normalize(join(dirname(file), target)));
  }
  return entries;
}

function findUnused(sources: Sources, entries: ReadonlyMap<string, string>): string[] {
  /** `file name`, of what is imported by name; files whose exports are imported all together. */
  const named = new Set<string>();
  const whole = new Set<string>();
  /** Names that a file passes on, which count as used when the name there is. */
  const passedOn: { from: string; name: string; as: string; by: string }[] = [];
  for (const [file, text] of sources) {
    const resolved = (to: string) =>
      to.startsWith(".") ? normalize(join(dirname(file), to)) : entries.get(to);
    for (const [, to = ""] of text.matchAll(lazy)) whole.add(String(resolved(to)));
    for (const [, how, names = "", to = ""] of text.matchAll(listed)) {
      const from = String(resolved(to));
      if (names.startsWith("*")) whole.add(from);
      else
        for (const one of names
          .slice(1, -1)
          .split(",")
          .filter((part) => part.trim() !== "")) {
          const [name = "", as = name] = one
            .trim()
            .replace(/^type\s+/, "")
            .split(/\s+as\s+/);
          if (how === "import") named.add(`${from} ${name}`);
          else passedOn.push({ from, name, as, by: file });
        }
    }
  }
  const isUsed = (file: string, name: string): boolean =>
    published.test(file) ||
    whole.has(file) ||
    named.has(`${file} ${name}`) ||
    passedOn.some((one) => one.from === file && one.name === name && isUsed(one.by, one.as));
  return [...sources].flatMap(([file, text]) =>
    [...text.matchAll(declared)]
      .map(([, name = ""]) => name)
      .filter((name) => !isUsed(file, name))
      .map((name) => `${file} exports ${name}`),
  );
}

describe("what is exported", () => {
  test("is imported by somebody", () => {
    const files = globSync("{proto,libs,services,tests,docs}/**/*.{ts,tsx}", {
      cwd: root,
      exclude: (path) => path.includes("node_modules"),
    });
    const sources = new Map(files.sort().map((file) => [file, readFileSync(join(root, file), "utf8")]));
    assert.deepEqual(findUnused(sources, readEntries()), []);
  });

  test("is found where nobody imports it, also behind a file that passes it on", () => {
    const sources = new Map([
      ["libs/a/src/index.ts", 'export { one, two as second } from "./part.ts";'],
      ["libs/a/src/part.ts", "export const one = 1;\nexport type two = 2;\nexport function three() {}"],
      ["libs/a/src/lazy.ts", "export const late = 1;"],
      ["libs/b/src/main.ts", 'import { type second } from "@svc/a";\nawait import("../../a/src/lazy.ts");'],
    ]);
    assert.deepEqual(findUnused(sources, new Map([["@svc/a", "libs/a/src/index.ts"]])), [
      "libs/a/src/part.ts exports one",
      "libs/a/src/part.ts exports three",
    ]);
  });
});
