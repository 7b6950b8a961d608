// Every document that a file names is in the repository, and so is the section that it cites.

import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, test } from "node:test";

const root = resolve(import.meta.dirname, "../..");
const folders = "{proto,libs,services,tests,deploy,docs}/**/*.{ts,cjs,mjs,md,sql,yaml,yml}";
const outside = /(^|\/)node_modules\//;
/** A document, with or without a section; addresses of the web and names of files that a test makes are none. */
const citation =
  /(?<![\w./-])(?<!:\/\/\S*)(?!(?<=")[\w-]+\.md")((?:\.{1,2}\/)*[\w-][\w./-]*\.md)(?:#([\w-]+))?/g;
/** What citations of a specification outside of the repository looked like. */
const foreign = /(?<!LuckPerms )\bissue \d+\b|\(6\.\d+\)/;

type Citation = { from: string; line: number; path: string; anchor: string | undefined };

function citationsIn(from: string, text: string): Citation[] {
  return text.split("\n").flatMap((content, index) =>
    [...content.matchAll(citation)].map(([, path = "", anchor]) => ({
      from,
      line: index + 1,
      path,
      anchor,
    })),
  );
}

/** The file that is meant: from the root, from the citing file, or beside the other documents. */
function fileOf({ from, path }: Pick<Citation, "from" | "path">): string | undefined {
  const bases = [root, join(root, dirname(from)), join(root, "docs"), join(root, "docs/reference")];
  return bases.map((base) => join(base, path)).find((file) => existsSync(file));
}

const anchors = new Map<string, ReadonlySet<string>>();

function anchorsOf(file: string): ReadonlySet<string> {
  const known = anchors.get(file);
  if (known) return known;
  const text = readFileSync(file, "utf8");
  const explicit = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = ""]) => id);
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) => slugOf(title));
  const found = new Set([...explicit, ...headings]);
  anchors.set(file, found);
  return found;
}

function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

function problemOf(cited: Citation): string | undefined {
  const at = `${cited.from}:${cited.line}`;
  const file = fileOf(cited);
  if (file === undefined) return `${at} names ${cited.path}, which is not in the repository`;
  if (cited.anchor === undefined || anchorsOf(file).has(cited.anchor)) return undefined;
  return `${at} cites ${relative(root, file)}#${cited.anchor}, which has no such section`;
}

describe("citations", () => {
  const files = globSync([folders, "*.{md,cjs,yaml}"], { cwd: root }).filter((file) => !outside.test(file));
  const texts = files.map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));

  test("every document and section that is named exists", () => {
    const problems = texts.flatMap(({ file, text }) =>
      citationsIn(file, text).flatMap((one) => problemOf(one) ?? []),
    );
    assert.deepEqual(problems, [], problems.join("\n"));
  });

  test("no section of a document outside of the repository is named by its number", () => {
    const found = texts.flatMap(({ file, text }) =>
      text
        .split("\n")
        .flatMap((line, index) => (foreign.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
    );
    assert.deepEqual(found, [], found.join("\n"));
  });

  test("a missing document and a missing section are both found", () => {
    const about = { from: "libs/mesh/README.md", line: 1 };
    assert.match(
      problemOf({ ...about, path: "docs/reference/http.md#faces", anchor: undefined }) ?? "",
      /not in the repository/,
    );
    assert.match(
      problemOf({ ...about, path: "docs/glossary.md", anchor: "nowhere" }) ?? "",
      /no such section/,
    );
    assert.equal(problemOf({ ...about, path: "docs/reference/restore.md", anchor: "swap" }), undefined);
  });
});
