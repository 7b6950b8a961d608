// Puts the tables into docs/performance.md, between marks, with the commit that they were measured on.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { root } from "./anchors.ts";

function commit(): string {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  const dirty = git("status", "--porcelain", "--untracked-files=no") === "" ? "" : " with local changes";
  return `${git("rev-parse", "--short=12", "HEAD")}${dirty}`;
}

function measured(markdown: string): string {
  const day = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} cores, ${cpus()[0]?.model.trim() ?? "unknown CPU"}, Node ${process.version}`;
  return `Measured ${day} on commit ${commit()} (${machine}).\n\n${markdown}`;
}

function replaceBetweenMarks(text: string, mark: string, content: string): string {
  const [begin, end] = [`<!-- ${mark}: begin -->`, `<!-- ${mark}: end -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/performance.md lacks the marks ${begin} and ${end}`);
  return `${text.slice(0, from)}${begin}\n\n${content}\n\n${text.slice(to)}`;
}

/** Replaces the generated parts of docs/performance.md that were measured; the words around them stay. */
export function writeTables(tables: { bench?: string | undefined; peer?: string | undefined }): void {
  const path = join(root, "docs/performance.md");
  let text = readFileSync(path, "utf8");
  for (const [mark, markdown] of Object.entries(tables))
    if (markdown !== undefined) text = replaceBetweenMarks(text, mark, measured(markdown));
  writeFileSync(path, text);
}
