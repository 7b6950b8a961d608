// Which files of a world an access covers (docs/reference/shared-access.md#files). The service decides again.

/** Whether a path is one of these or below one; without any, all are. */
export function isWithin(path: string, prefixes: readonly string[] | undefined): boolean {
  if (prefixes === undefined) return true;
  return prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
}

/** The folders and files to begin with where a folder cannot be listed; undefined where it can. */
export function startsIn(folder: string, prefixes: readonly string[] | undefined): string[] | undefined {
  if (isWithin(folder, prefixes)) return undefined;
  return prefixes?.filter((prefix) => folder === "" || prefix.startsWith(`${folder}/`));
}
