// Files of `svc apply`: reading, and what is wrong with them by line (docs/reference/apply.md#file).

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { serverFiles } from "@svc/proto";
import { type Document, isNode, LineCounter, parseAllDocuments } from "yaml";
import type { z } from "zod";
import { CommandError } from "../output.ts";
import type { Wanted } from "./change.ts";

/** A text and how messages call it. */
type Source = { name: string; text: string };

/** What `-f` names: a file, every .yaml and .yml of a folder by name, or `-` for standard input. */
export async function readSources(named: readonly string[], folder: string): Promise<Source[]> {
  const sources: Source[] = [];
  for (const one of named) {
    if (one === "-") {
      sources.push({ name: "standard input", text: await text(process.stdin) });
      continue;
    }
    const path = resolve(folder, one);
    const files = statSync(path).isDirectory() ? yamlIn(path) : [path];
    if (files.length === 0) throw new CommandError(`${one} has no .yaml or .yml file`);
    for (const file of files)
      sources.push({ name: relative(folder, file) || file, text: readFileSync(file, "utf8") });
  }
  return sources;
}

function yamlIn(folder: string): string[] {
  const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const files = names.map(({ name }) => name).filter((name) => /\.ya?ml$/.test(name));
  return files.sort().map((name) => join(folder, name));
}

type Parsed = { wanted: Wanted[]; problems: string[] };

/** Every document of the sources. A problem starts with file and line. */
export function parseSources(sources: readonly Source[]): Parsed {
  const parsed: Parsed = { wanted: [], problems: [] };
  for (const source of sources) parseSource(source, parsed);
  if (parsed.wanted.length === 0 && parsed.problems.length === 0)
    parsed.problems.push(`${sources.map(({ name }) => name).join(", ")}: no server is in it`);
  return parsed;
}

function parseSource({ name, text }: Source, { wanted, problems }: Parsed): void {
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter });
  if (!Array.isArray(documents)) return;
  for (const document of documents) {
    const [error] = document.errors;
    if (error) {
      problems.push(`${name}:${lineCounter.linePos(error.pos[0]).line}: ${error.message.split("\n")[0]}`);
      continue;
    }
    const value = contentOf(document);
    if (value instanceof Error) {
      problems.push(`${name}:${lineCounter.linePos(document.range[0]).line}: ${value.message}`);
      continue;
    }
    if (value === null || value === undefined) continue;
    const lineOf = (path: readonly PropertyKey[]): number => {
      for (let length = path.length; length >= 0; length--) {
        const node = document.getIn(path.slice(0, length), true);
        if (isNode(node) && node.range) return lineCounter.linePos(node.range[0]).line;
      }
      return lineCounter.linePos(document.range[0]).line;
    };
    const result = serverFiles.ServerFile.safeParse(value);
    if (result.success) wanted.push(result.data);
    else
      problems.push(
        ...result.error.issues.flatMap((issue) =>
          wordsOf(issue).map(({ path, words }) => `${name}:${lineOf(path)}: ${words}`),
        ),
      );
  }
}

/** What a document holds, or why it cannot be read: aliases may not make a small file a huge one. */
function contentOf(document: Document.Parsed): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

type Problem = { path: PropertyKey[]; words: string };

function wordsOf(issue: z.core.$ZodIssue): Problem[] {
  const at = (path: readonly PropertyKey[]) => path.map(String).join(".");
  if (issue.code !== "unrecognized_keys")
    return [
      {
        path: issue.path,
        words: issue.path.length === 0 ? issue.message : `${at(issue.path)}: ${issue.message}`,
      },
    ];
  return issue.keys.map((key) => {
    const path = [...issue.path, key];
    const closest = closestOf(key, fieldsAt(issue.path));
    const advice = closest === undefined ? "" : `; did you mean ${closest}?`;
    return { path, words: `${at(path)}: there is no such field${advice}` };
  });
}

/** Names of fields at a place of the file. */
function fieldsAt([first, , list]: readonly PropertyKey[]): string[] {
  if (first === "schedules" && list === "nextSteps") return Object.keys(serverFiles.FileStep.shape);
  const shapes: Partial<Record<PropertyKey, object>> = {
    settings: serverFiles.FileSettings.shape,
    schedules: serverFiles.FileSchedule.shape,
    allowlist: serverFiles.FileAllowlistEntry.shape,
    restart: serverFiles.FileRestart.shape,
    members: serverFiles.FileMember.shape,
  };
  const shape = first === undefined ? serverFiles.ServerFile.shape : shapes[first];
  return Object.keys(shape ?? {});
}

/** The name that differs least, if by less than half of it or by more letters behind it. */
export function closestOf(name: string, names: readonly string[]): string | undefined {
  const given = name.toLowerCase();
  const ranked = names
    .map((one) => ({ one, far: distance(given, one.toLowerCase()) }))
    .sort((a, b) => a.far - b.far);
  const [best] = ranked;
  if (best && best.far <= Math.max(2, best.one.length / 2 - 1)) return best.one;
  const isLonger = (one: string, other: string) => other.length > 2 && one.startsWith(other);
  return names.find((one) => isLonger(one.toLowerCase(), given) || isLonger(given, one.toLowerCase()));
}

/** Letters to insert, delete or replace. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [up, letter] of [...from].entries()) {
    const next = [up + 1];
    for (let at = 0; at < to.length; at++)
      next.push(
        Math.min((row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1, (row[at] ?? 0) + (letter === to[at] ? 0 : 1)),
      );
    row = next;
  }
  return row[to.length] ?? 0;
}
