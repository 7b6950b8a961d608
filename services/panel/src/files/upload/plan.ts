// From chosen or dropped files to items of the queue, and back again after a reload. Pure.

import type { UploadItem } from "./item.ts";
import { isOver } from "./queue.ts";

/** A file or an empty folder as the person gave it; `path` is relative to where it goes. */
export type Chosen = { path: string; file?: { name: string; size: number; lastModified: number } };

type Target = {
  server: string;
  folder: string;
  /** Paths that are known to be there: such folders are not made, and such files ask before anything is sent. */
  existing: ReadonlySet<string>;
  newId: () => string;
};
type Planned<C extends Chosen> = { item: UploadItem; chosen: C | undefined };

/** Items in the order in which they are worked on: each folder before what is in it. */
export function planItems<C extends Chosen>(chosen: readonly C[], target: Target): Planned<C>[] {
  const folders = new Set<string>();
  for (const { path, file } of chosen) {
    const parts = path.split("/");
    const depth = file ? parts.length - 1 : parts.length;
    for (let at = 1; at <= depth; at++) folders.add(parts.slice(0, at).join("/"));
  }
  const made = [...folders]
    .sort()
    .map((path) => newItem({ path }, target))
    .filter(({ path }) => !target.existing.has(path));
  const files = chosen.filter(({ file }) => file);
  return [
    ...made.map((item) => ({ item, chosen: undefined })),
    ...files.map((one) => ({ item: newItem(one, target), chosen: one })),
  ];
}

function newItem({ path: chosen, file }: Chosen, { server, folder, existing, newId }: Target): UploadItem {
  const path = folder === "" ? chosen : `${folder}/${chosen}`;
  return {
    id: newId(),
    server,
    path,
    kind: file ? "file" : "folder",
    size: file?.size ?? 0,
    modified: file?.lastModified ?? 0,
    overwrite: false,
    partMax: 0,
    received: 0,
    isSynced: true,
    wasCommitted: false,
    attempts: 0,
    state: { is: existing.has(path) ? "exists" : "open" },
  };
}

/** Most bytes of one part of a context, until the service names its own limit. */
const contextPartBytes = 32 * 1_048_576;

/** The item of a submission's context, from its first byte: what an earlier file has left there does not count. */
export function planContext(
  submission: string,
  file: NonNullable<Chosen["file"]>,
  newId: () => string,
): UploadItem {
  const target = { server: "", folder: "", existing: new Set<string>(), newId };
  const item = newItem({ path: file.name, file }, target);
  return { ...item, submission, session: submission, partMax: contextPartBytes };
}

/** Which chosen file belongs to which item that waits for its bytes; one that could be two files is neither. */
export function matchFiles<C extends Chosen>(
  waiting: readonly UploadItem[],
  chosen: readonly C[],
): { id: string; chosen: C }[] {
  const taken = new Set<string>();
  return chosen.flatMap((one) => {
    const found = waiting.filter((item) => !isOver(item) && isSameFile(item, one));
    const [item] = found;
    if (!item || found.length > 1 || taken.has(item.id)) return [];
    taken.add(item.id);
    return [{ id: item.id, chosen: one }];
  });
}

/** The same name, size and time. */
function isSameFile(item: UploadItem, { path, file }: Chosen): boolean {
  if (!file || file.size !== item.size || file.lastModified !== item.modified) return false;
  return item.path === path || item.path.endsWith(`/${path}`);
}

/** Items as a reload leaves them: nothing is known of the service, and what is over is forgotten. */
export function reviveItems(text: string | null): UploadItem[] {
  const items: unknown = (() => {
    try {
      return JSON.parse(text ?? "[]");
    } catch {
      return [];
    }
  })();
  if (!Array.isArray(items) || !items.every(isItem)) return [];
  return items
    .filter((item) => !isOver(item))
    .map((item) => ({
      ...item,
      attempts: 0,
      isSynced: item.session === undefined,
      state: item.state.is === "exists" ? item.state : { is: "open" },
    }));
}

const fields = {
  id: "string",
  server: "string",
  path: "string",
  kind: "string",
  size: "number",
  modified: "number",
  received: "number",
  partMax: "number",
  state: "object",
} as const;

function isItem(value: unknown): value is UploadItem {
  if (typeof value !== "object" || value === null) return false;
  const given = value as Readonly<Record<string, unknown>>;
  return (
    given["state"] !== null && Object.entries(fields).every(([name, type]) => typeof given[name] === type)
  );
}
