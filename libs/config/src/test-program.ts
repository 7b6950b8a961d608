import { existsSync } from "node:fs";
import { join, relative } from "node:path";

const repo = join(import.meta.dirname, "../../..");
/** Names the folder of the bundled programs; the runner of the tests sets it. */
export const testProgramsVariable = "SVC_TEST_PROGRAMS";

/** Name of the bundle of a source, given relative to the checkout. */
export const bundleName = (source: string): string => source.replaceAll("/", "__").replace(/\.ts$/, "");

/**
 * The file that runs a program which tests start dozens of times, given by the absolute path of its source: bundled where
 * the runner has bundled it (`tests/runner/programs.ts`), which takes half the CPU time.
 */
export function testProgram(source: string): string {
  // biome-ignore lint/style/noProcessEnv: a switch of the tests, not of a service
  const folder = process.env[testProgramsVariable];
  if (!folder) return source;
  const bundled = join(folder, `${bundleName(relative(repo, source))}.mjs`);
  return existsSync(bundled) ? bundled : source;
}
