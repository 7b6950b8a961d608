// What the newest verification of copies found; a file, so that it is known without a database.

import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const Verification = z.strictObject({
  at: z.iso.datetime(),
  /** Keys of copies that cannot be used. */
  damaged: z.array(z.string()),
});
export type Verification = z.output<typeof Verification>;

const fileIn = (stateDir: string) => join(stateDir, "verification.json");

/** Undefined when there was none, or none that can be read. */
export async function readVerification(stateDir: string): Promise<Verification | undefined> {
  try {
    return Verification.parse(JSON.parse(await readFile(fileIn(stateDir), "utf8")));
  } catch {
    return undefined;
  }
}

export async function writeVerification(stateDir: string, verification: Verification): Promise<void> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  const partial = `${fileIn(stateDir)}.partial`;
  await writeFile(partial, JSON.stringify(verification), { mode: 0o600, flush: true });
  await rename(partial, fileIn(stateDir));
}
