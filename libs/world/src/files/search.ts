// Looks below a folder for a text, in names and in content, within limits (docs/reference/files.md#search). What cannot be read
// by `readSmallFile` is not searched either: the forwarding secret, the RCON password, what lies behind a link.

import type { SearchMatch, SearchResult } from "@svc/proto/world-task";
import { isWorldFault, WorldFault } from "../fault.ts";
import type { Folder } from "../path/folder.ts";
import { isHidden, parsePath } from "../path/parse.ts";
import {
  findProtected,
  forwardingPath,
  isForwarding,
  isPartialName,
  isProperties,
  type Protected,
  propertiesPath,
} from "../path/protect.ts";
import { SourceFile } from "../path/source-file.ts";
import { isUnreadable, type Visited, visit } from "../path/visit.ts";
import { masked } from "./read.ts";
import { findLines, hasText, isBinary, type SearchText } from "./search-text.ts";

type SearchLimits = {
  /** Files and folders that are found. */
  matches: number;
  /** Bytes of the answer. */
  matchBytes: number;
  /** Files and folders whose names are compared. */
  entries: number;
  /** Bytes of content that are compared. */
  bytes: number;
  /** Size of a file whose content is compared. */
  fileBytes: number;
  /** Lines that are shown of one file. */
  lines: number;
  timeMs: number;
};

type SearchPlan = SearchText & {
  path: string;
  in: "names" | "content" | "both";
  limits: SearchLimits;
  /** Monotonic milliseconds. */
  now?: () => number;
  signal?: AbortSignal | undefined;
};

type Search = SearchPlan & { known: Protected; result: SearchResult; matchBytes: number };

/** Longest path that a request can have. */
const mostPathBytes = 4_096;

/** Throws `bad_path`, `not_found`, both about the folder. */
export async function searchFiles(world: Folder, plan: SearchPlan): Promise<SearchResult> {
  const { signal, now = () => performance.now() } = plan;
  const parents = parsePath(plan.path);
  await using folder = await world.descend(parents);
  const left_out = { large: 0, binary: 0, protected: 0, unreadable: 0 };
  const result: SearchResult = { matches: [], looked_at: 0, read_bytes: 0, left_out, stopped: null };
  const search: Search = { ...plan, known: await findProtected(world), result, matchBytes: 0 };
  const prefix = parents.length === 0 ? "" : `${parents.join("/")}/`;
  const endAt = now() + plan.limits.timeMs;
  try {
    const isIn = ({ name }: { name: string }) => !isHidden(name);
    const mayEnter = (path: string) => isReachable(`${prefix}${path}`);
    for await (const visited of visit(folder, { signal, isIn, mayEnter })) {
      if (now() >= endAt) result.stopped = "time";
      else if (result.looked_at >= plan.limits.entries) result.stopped = "entries";
      else await lookAt(search, { visited, path: `${prefix}${visited.path}` });
      if (result.stopped !== null) break;
    }
  } catch (error) {
    // A folder below the first one went during the search: the first one is there, so it may be repeated.
    if (isWorldFault(error)) throw new Error("a folder was removed during the search");
    throw error;
  }
  return result;
}

type Looked = { visited: Visited; path: string };

async function lookAt(search: Search, { visited, path }: Looked): Promise<void> {
  const { result, limits } = search;
  result.looked_at += 1;
  if (visited.kind === "closed" || !isReachable(path)) {
    result.left_out.unreadable += 1;
    return;
  }
  const inName = search.in !== "content" && hasText(visited.name, search);
  const isRead = search.in !== "names" && visited.kind === "file";
  const found = isRead ? await searchContent(search, { visited, path }) : noLines;
  if (result.stopped !== null || (!inName && found.lines.length === 0)) return;
  const stats = visited.kind === "folder" ? visited.stats : await visited.folder.find(visited.name);
  if (!stats) return;
  const match: SearchMatch = {
    path,
    size: stats.isDirectory() ? 0 : stats.size,
    is_dir: stats.isDirectory(),
    mod_time: new Date(stats.mtimeMs).toISOString(),
    in_name: inName,
    lines: found.lines,
    more_lines: found.isMore,
  };
  const bytes = Buffer.byteLength(JSON.stringify(match));
  const isFull = result.matches.length >= limits.matches || search.matchBytes + bytes > limits.matchBytes;
  if (isFull) {
    result.stopped = "matches";
    return;
  }
  search.matchBytes += bytes;
  result.matches.push(match);
}

function isReachable(path: string): boolean {
  return path.isWellFormed() && Buffer.byteLength(path) <= mostPathBytes;
}

const noLines = { lines: [], isMore: false };

async function searchContent(
  search: Search,
  { visited: { folder, name }, path }: Looked,
): Promise<ReturnType<typeof findLines>> {
  const { result, known, limits } = search;
  const leaveOut = (why: keyof SearchResult["left_out"]) => {
    result.left_out[why] += 1;
    return noLines;
  };
  const opened = openFile(folder, name);
  if (!opened) return leaveOut("unreadable");
  await using file = opened;
  const { stats } = file;
  // No lock is held: a start may replace these files meanwhile, and then they are others with the same names.
  if (isForwarding(known, stats) || path === forwardingPath || isPartialName(name))
    return leaveOut("protected");
  if (stats.size > limits.fileBytes) return leaveOut("large");
  if (result.read_bytes + stats.size > limits.bytes) {
    result.stopped = "bytes";
    return noLines;
  }
  const stored = await readWhole(file);
  if (!stored) return leaveOut("unreadable");
  result.read_bytes += stored.length;
  if (isBinary(stored)) return leaveOut("binary");
  const content = isProperties(known, stats) || path === propertiesPath ? masked(stored) : stored;
  return findLines(content.toString("utf8"), search, limits.lines);
}

/** Undefined for what has gone, is no regular file by now, or that we have no right to read. */
function openFile(folder: Folder, name: string): SourceFile | undefined {
  try {
    return SourceFile.open(folder, name);
  } catch (error) {
    if (error instanceof WorldFault || isUnreadable(error)) return undefined;
    throw error;
  }
}

/** The first bytes alone when they are binary; undefined when it cannot be read, or became shorter. */
async function readWhole(file: SourceFile): Promise<Buffer | undefined> {
  const whole = Buffer.allocUnsafe(file.stats.size);
  try {
    for (let at = 0; at < whole.length; ) {
      const count = await file.read(whole.subarray(at, at + chunkBytes), at);
      if (count === 0) return undefined;
      at += count;
      if (isBinary(whole.subarray(0, at))) return whole.subarray(0, at);
    }
    return whole;
  } catch (error) {
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}

const chunkBytes = 64 << 10;
