// What a reviewer sees of a context: its entries and its text files, beside those of the author's last approved one.

import type { Handler } from "@svc/mesh";
import { Fault, type submissions } from "@svc/proto";
import { readContext } from "@svc/world";
import { readParts } from "../context/check.ts";
import { type Comparison, compareContexts, selectEntries } from "../context/compare.ts";
import { decodeIndex } from "../context/entry-index.ts";
import type { ContextStore } from "../context/store.ts";
import type { SubmissionDeps } from "./deps.ts";
import { findContext } from "./download.ts";
import type { SubmissionRow } from "./row.ts";
import { findCompared } from "./store.ts";

type Deps = Pick<SubmissionDeps, "db" | "contexts" | "slots">;

const mostComparisons = 4;
const readWithinMs = 20_000;
const mostTextBytes = 256 * 1_024;

/** builds.submission.list-context-entries */
export function listContextEntries(deps: Deps): Handler<typeof submissions.listContextEntries> {
  // The reviewer opens one folder after the other.
  const recent = new Map<string, Promise<Comparison>>();
  const compare = (index: string, earlier: string | null): Promise<Comparison> => {
    const key = `${index} ${earlier}`;
    const known = recent.get(key);
    recent.delete(key);
    const comparison = known ?? loadComparison(deps, index, earlier);
    recent.set(key, comparison);
    comparison.catch(() => recent.delete(key));
    const [oldest] = recent.keys();
    if (recent.size > mostComparisons && oldest !== undefined) recent.delete(oldest);
    return comparison;
  };
  return async (_context, { id, limit, offset, ...wanted }) => {
    const { row, sha256, index } = await findContext(deps, id);
    const earlier = await findCompared(deps.db, row);
    const { entries, counts } = await compare(index, earlier?.context_index ?? null);
    const selected = selectEntries(entries, wanted);
    return {
      entries: selected.slice(offset, offset + limit),
      total: selected.length,
      counts,
      ...(earlier?.context_sha256 && {
        compared_with: {
          id: earlier.id,
          display_name: earlier.display_name,
          context_sha256: earlier.context_sha256,
        },
      }),
      context_sha256: sha256,
    };
  };
}

async function loadComparison({ contexts, slots }: Deps, index: string, earlier: string | null) {
  // Shared by several callers, so that none of them ends it.
  const signal = AbortSignal.timeout(readWithinMs);
  const read = (name: string) => decodeIndex(contexts.readWhole(name, signal));
  return slots.run(async () => {
    const now = await read(index);
    return compareContexts(now, earlier === null ? [] : await read(earlier));
  });
}

/** builds.submission.read-context-file */
export const readContextFile =
  (deps: Deps): Handler<typeof submissions.readContextFile> =>
  async (context, { id, path }) => {
    const { row } = await findContext(deps, id);
    const earlier = await findCompared(deps.db, row);
    const read = (one: SubmissionRow) =>
      deps.slots.run(() => readFile(deps.contexts, one, { path, signal: context.signal }), context.signal);
    const now = await read(row);
    const before = earlier && (await read(earlier));
    if (!now && !before) throw new Fault("not_found", { message: "The context has no file of this path." });
    return {
      path,
      size: now?.size ?? 0,
      ...(now?.text !== undefined && { text: now.text }),
      ...(before?.text !== undefined && { previous: before.text }),
    };
  };

type FoundFile = { size: number; text?: string };

// A reader that stops early ends the stream.
async function readFile(
  contexts: ContextStore,
  { context_parts }: SubmissionRow,
  { path, signal }: { path: string; signal: AbortSignal },
): Promise<FoundFile | undefined> {
  const packed = async function* () {
    for await (const chunk of readParts(contexts, context_parts, signal)) yield Buffer.from(chunk);
  };
  for await (const entry of readContext(packed()).entries) {
    if (entry.path !== path || entry.kind !== "file") continue;
    const { size } = entry;
    if (size > mostTextBytes) return { size };
    const chunks: Buffer[] = [];
    for await (const chunk of entry.content()) chunks.push(Buffer.from(chunk));
    const text = textOf(Buffer.concat(chunks));
    return { size, ...(text !== undefined && { text }) };
  }
  return undefined;
}

function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
