// Which files of a world an access covers (docs/reference/shared-access.md#files). The service decides again.

/** Whether a path is one of these or below one; without any, all are. */
export function isWithin(path: string, prefixes: readonly string[] | undefined): boolean {
  if (prefixes === undefined) return true;
  return prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
}

/** Whether a path looks like a file, where nobody may ask what it is. */
export function isFileByName(path: string): boolean {
  return /\.[A-Za-z]\w{0,9}$/.test(path);
}

/** The folders and files to begin with where a folder cannot be listed; undefined where it can. */
export function startsIn(folder: string, prefixes: readonly string[] | undefined): string[] | undefined {
  if (isWithin(folder, prefixes)) return undefined;
  return prefixes?.filter((prefix) => folder === "" || prefix.startsWith(`${folder}/`));
}
