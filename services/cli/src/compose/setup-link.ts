import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { CommandError, type Outcome } from "../output.ts";

const waitMs = 60_000;
const pollMs = 200;

/** Waits for the setup link that identity writes, and prints it. */
export async function printSetupLink(options: { file: string }): Promise<Outcome> {
  const endAt = Date.now() + waitMs;
  while (!existsSync(options.file)) {
    if (Date.now() > endAt)
      throw new CommandError("no setup link appeared; the installation may have an owner already");
    await sleep(pollMs);
  }
  const link = readFileSync(options.file, "utf8").trim();
  return { json: { setup_url: link }, text: `Make yourself the owner: ${link}` };
}
