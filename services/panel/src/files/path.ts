// Paths inside a world: relative, with forward slashes; the world's root is empty (docs/reference/files.md#paths).

/** What the address shows: a folder, or a file in the editor. */
type Place = { folder: string; file: string | undefined };

/** Reads the part of the address behind `?`; numbers and the like are names there. */
export function placeOf(search: Readonly<Record<string, unknown>>): Place {
  const [folder, file] = [textOf(search["path"]), textOf(search["open"])];
  return file === "" ? { folder, file: undefined } : { folder: parentOf(file), file };
}

function textOf(value: unknown): string {
  if (value === undefined || value === null || typeof value === "object") return "";
  return String(value)
    .split("/")
    .filter((part) => part !== "")
    .join("/");
}

/** The part of the address behind `?` for a folder. */
export function searchOf(folder: string): Record<string, string> {
  return folder === "" ? {} : { path: folder };
}

export function joinPath(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The folders that lead to a path, from the outermost to itself. */
export function crumbsOf(path: string): { name: string; path: string }[] {
  if (path === "") return [];
  const parts = path.split("/");
  return parts.map((name, at) => ({ name, path: parts.slice(0, at + 1).join("/") }));
}

const longestNameBytes = 255;

/** Whether a file or folder may have this name. */
export function isFileName(name: string): boolean {
  if (name === "" || name === "." || name === ".." || name.startsWith(".svc-")) return false;
  return !/[/\\\0]/.test(name) && new TextEncoder().encode(name).length <= longestNameBytes;
}

/** Whether a path may name something below the world's root. */
export function isWorldPath(path: string): boolean {
  return path.split("/").every(isFileName);
}
