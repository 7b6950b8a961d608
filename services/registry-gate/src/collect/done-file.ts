import { closeSync, mkdirSync, openSync, rmSync } from "node:fs";
import { dirname } from "node:path";

/** Sets the time of the last collection, which is that of the file's last change, to now. */
export function touch(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // Truncation of an empty file would not change its time.
  rmSync(file, { force: true });
  closeSync(openSync(file, "w", 0o600));
}
