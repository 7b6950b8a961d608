// Keys of what is copied of the archive of the log (docs/reference/off-site.md#wal): the path in its folder, below `wal/`.

import { parseSegment } from "../wal/lsn.ts";

const folder = "wal/";
const suffix = ".sealed";

/** In the order in which they are sent: the last one makes a base backup count. */
export const baseFiles = ["base.tar.zst", "backup_manifest", "base.json"] as const;

type WalPart =
  | { kind: "run" | "received" }
  /** `open`: the beginning of a segment that is not whole yet. */
  | { kind: "segment" | "open"; segment: string; start: bigint }
  | { kind: "base"; base: string; file: (typeof baseFiles)[number] };

export type WalPath = WalPart & {
  /** Path in the folder of the archive. */
  path: string;
  run: string;
};

export const keyOfWal = (path: string): string => `${folder}${path}${suffix}`;

/** The part of the archive of an object; undefined for every other object. */
export function walOfKey(key: string): WalPath | undefined {
  if (!key.startsWith(folder) || !key.endsWith(suffix)) return undefined;
  const path = key.slice(folder.length, -suffix.length);
  const [, run, rest = ""] = /^(run-\d{8}T\d{9}Z)\/(.+)$/.exec(path) ?? [];
  if (run === undefined) return undefined;
  const part = partOf(rest);
  return part && { ...part, path, run };
}

function partOf(rest: string): WalPart | undefined {
  if (rest === "run.json") return { kind: "run" };
  if (rest === "received.json") return { kind: "received" };
  const [, segment, partial] = /^wal\/([0-9A-F]{24})(\.partial)?$/.exec(rest) ?? [];
  const start = segment === undefined ? undefined : parseSegment(segment)?.start;
  if (segment !== undefined && start !== undefined)
    return { kind: partial === undefined ? "segment" : "open", segment, start };
  const [, base, name] = /^(base-\d{8}T\d{9}Z)\/(.+)$/.exec(rest) ?? [];
  const file = baseFiles.find((one) => one === name);
  return base === undefined || file === undefined ? undefined : { kind: "base", base, file };
}

/** Whether its object is written again as the log grows; every other one is written once. */
export const isRewritten = ({ kind }: Pick<WalPath, "kind">): boolean =>
  kind === "received" || kind === "open";
