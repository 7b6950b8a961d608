// Puts the table into docs/performance.md, between two marks, with the commit that it was measured on.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { root } from "./anchors.ts";
import { type Row, table } from "./report.ts";

const begin = "<!-- bench: begin -->";
const end = "<!-- bench: end -->";

function commit(): string {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  const dirty = git("status", "--porcelain", "--untracked-files=no") === "" ? "" : " with local changes";
  return `${git("rev-parse", "--short=12", "HEAD")}${dirty}`;
}

function generated(rows: readonly Row[]): string {
  const day = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} cores, ${cpus()[0]?.model.trim() ?? "unknown CPU"}, Node ${process.version}`;
  return `${begin}\n\nMeasured ${day} on commit ${commit()} (${machine}).\n\n${table(rows)}\n\n${end}`;
}

/** Replaces the generated part of docs/performance.md; the words around it stay. */
export function writeTable(rows: readonly Row[]): void {
  const path = join(root, "docs", "docs/performance.md");
  const text = existsSync(path) ? readFileSync(path, "utf8") : `# Performance\n\n${begin}\n${end}\n`;
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${path} lacks the marks ${begin} and ${end}`);
  writeFileSync(path, text.slice(0, from) + generated(rows) + text.slice(to + end.length));
}
