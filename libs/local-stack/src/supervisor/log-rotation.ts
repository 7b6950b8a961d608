import { copyFileSync, statSync, truncateSync } from "node:fs";

/** A log is rotated at this size; one older part is kept beside it as `<name>.log.1`. */
const logBytes = 10 * 1024 * 1024;

const checkEveryMs = 5_000;

/**
 * Keeps logs small while children write them: the children append, so the old content is copied aside and the file
 * cut to nothing. Returns a function that ends the watch.
 */
export function rotateLogs(
  paths: () => readonly string[],
  limit = logBytes,
  everyMs = checkEveryMs,
): () => void {
  const timer = setInterval(() => {
    for (const path of paths()) rotateLog(path, limit);
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

function rotateLog(path: string, limit: number): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size < limit) return;
  try {
    copyFileSync(path, `${path}.1`);
  } catch {
    // On a full disk the copy fails; cutting the file is then what helps most.
  }
  truncateSync(path, 0);
}
