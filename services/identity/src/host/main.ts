// Account commands of the person at the host, for when the API is down or nobody can sign in (docs/reference/cli.md#ways): works on
// the database alone. `svc` starts it with one command as JSON on stdin and reads one JSON answer from stdout.

import { text } from "node:stream/consumers";
import { loadSettings } from "@svc/config";
import { isFault } from "@svc/proto";
import { openStore } from "@svc/store";
import { createLogger } from "@svc/telemetry";
import { z } from "zod";
import { settings as schema } from "../config.ts";
import type { Tables } from "../database.ts";
import { Command, runCommand } from "./command.ts";

async function main(): Promise<void> {
  const url = process.env["SVC_DATABASE_URL"];
  if (!url) throw new Error("SVC_DATABASE_URL is not set");
  const overrides = (process.env["SVC_SET"] ?? "").split("\n").filter((line) => line !== "");
  const settings = loadSettings(schema, { file: process.env["SVC_CONFIG"], overrides });
  const command = Command.parse(JSON.parse(await text(process.stdin)));
  const store = openStore<Tables>({
    url,
    schema: "identity",
    poolSize: 2,
    log: createLogger("identity", "silent"),
  });
  try {
    const answer = await runCommand({ db: store.db, settings, now: new Date() }, command);
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  } finally {
    await store.close();
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${sentenceOf(error).replaceAll("\n", " ")}\n`);
  process.exitCode = 1;
});

/** One sentence on one line: the caller prints the last line. */
function sentenceOf(error: unknown): string {
  if (isFault(error) && error.fault === "unavailable") return "the database does not respond";
  if (error instanceof z.ZodError) return z.prettifyError(error).replace(/^✖ /, "");
  const { code, message } = error as NodeJS.ErrnoException;
  return code === "ENOSPC" ? "the disk is full; free some space and try again" : message;
}
