import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { StackFile } from "@svc/local-stack";
import { stackHint } from "./hint.ts";
import { CommandError } from "./output.ts";

/** Reads `stack.json` of a running local stack. Throws a `CommandError` that says how to start one. */
export function readStackFile(dataDir: string): StackFile {
  try {
    return JSON.parse(readFileSync(join(dataDir, "stack.json"), "utf8")) as StackFile;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new CommandError(`no stack is running on ${dataDir}; start one with: ${stackHint("up", dataDir)}`);
  }
}
