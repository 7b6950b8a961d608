// The digest of everything that the built panel depends on: its sources, the contracts and the packages.

import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const inputs = [
  "package-lock.json",
  "proto/src/**/*.ts",
  "services/panel/{index.html,package.json}",
  "services/panel/{build,src}/**/*.{ts,tsx,css,svg}",
];

/** Hex digest of the inputs below `repo`, without tests. */
export function digestInputs(repo: string): string {
  const files = globSync(inputs, { cwd: repo }).filter((file) => !/\.test\.tsx?$/.test(file));
  const digest = createHash("sha256").update(process.version);
  for (const file of files.sort()) {
    const bytes = readFileSync(join(repo, file));
    digest.update(`\0${file}\0${bytes.length}\0`).update(bytes);
  }
  return digest.digest("hex").slice(0, 32);
}
