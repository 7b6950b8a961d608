// The entries of a context as the reviewer sees them. Pure.

import type { Output } from "../../api/operations.ts";

export type ContextEntry = Output<"submissions.listContextEntries">["entries"][number];
type Change = ContextEntry["change"];

/** What a reviewer looks at first. */
export const changes = ["added", "changed", "removed"] as const satisfies readonly Change[];

/** Name of an entry in its folder. */
export function nameOf(path: string): string {
  const trimmed = path.replace(/\/$/, "");
  return trimmed.slice(trimmed.lastIndexOf("/") + 1);
}

/** Folders first, then by name, whatever the order of the answer; a path that comes twice stands once. */
export function sortEntries(entries: readonly ContextEntry[]): ContextEntry[] {
  const rank = ({ kind }: ContextEntry) => (kind === "folder" ? 0 : 1);
  const byPath = new Map(entries.map((entry) => [entry.path, entry]));
  return [...byPath.values()].sort(
    (a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0),
  );
}

/** Whether a link leads elsewhere than to a file of its own folder or below. */
export function leadsOut(target: string): boolean {
  return target.startsWith("/") || target.split("/").includes("..");
}

/** Whether a file is a recipe of an image, at the root or elsewhere. */
export function isDockerfile(path: string): boolean {
  return /^(Dockerfile|Containerfile)(\..+)?$/i.test(nameOf(path));
}
