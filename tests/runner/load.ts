// The program of a batch: load.ts FILE … runs test files one after the other, each as a suite that is named after it, so that
// hooks at the top of a file are for its own tests only.

import { resolve } from "node:path";
import { describe } from "node:test";
import { pathToFileURL } from "node:url";

for (const file of process.argv.slice(2))
  describe(file, async () => {
    await import(pathToFileURL(resolve(file)).href);
  });
