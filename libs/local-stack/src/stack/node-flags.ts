import { join } from "node:path";
import { pathToFileURL } from "node:url";

const collector = join(import.meta.dirname, "..", "process", "collect-when-idle.ts");

/**
 * Flags of every Node process of the stack; the same for all, or they could not share V8's code cache. Young garbage of
 * a gateway under load otherwise grows to 150 MB before it is looked at (docs/performance.md).
 */
export const nodeFlags: readonly string[] = [
  "--max-semi-space-size=8",
  "--expose-gc",
  `--import=${pathToFileURL(collector)}`,
];
