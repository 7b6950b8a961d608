// The program of a batch: load.ts FILE … runs test files one after the other, each as a suite that is named after it, so that
// hooks at the top of a file are for its own tests only.

import { createHook } from "node:async_hooks";
import { resolve } from "node:path";
import { before, describe } from "node:test";
import { pathToFileURL } from "node:url";

// node:test follows every promise of the process with an asynchronous hook, to know which suite a test is declared in and
// which test an uncaught exception is of: a quarter of all CPU time. It is needed only until all tests are declared.
const hooks = Object.getPrototypeOf(createHook({})) as { enable: () => { disable: () => void } };
const { enable } = hooks;
let followed: { disable: () => void } | undefined;
hooks.enable = function (this: typeof hooks) {
  followed = enable.call(this);
  return followed;
};

// An exception that nobody catches fails the batch, which prints its message only.
for (const origin of ["uncaughtException", "unhandledRejection"])
  process.on(origin, (error: unknown) => console.error(origin, error));

for (const [index, file] of process.argv.slice(2).entries())
  describe(file, async () => {
    hooks.enable = enable;
    // The first tests start when all are declared.
    if (index === 0) before(() => followed?.disable());
    await import(pathToFileURL(resolve(file)).href);
  });
