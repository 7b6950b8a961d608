/** What one answer names: files, and bytes of all of them as JSON. */
export type Most = { files: number; bytes: number };

/** The first of a list that fit into one answer. */
export function firstOf<T>(all: readonly T[], most: Most): T[] {
  let left = most.bytes;
  const end = all.findIndex((one) => {
    left -= Buffer.byteLength(JSON.stringify(one)) + 1;
    return left < 0;
  });
  return all.slice(0, Math.min(most.files, end < 0 ? all.length : end));
}
