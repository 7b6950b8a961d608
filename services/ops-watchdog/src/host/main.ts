// Database bundles for the person at the host (docs/reference/database-backups.md#commands). `svc` starts it with one command as JSON
// on stdin and reads one JSON answer from stdout; it needs no running service.

import { text } from "node:stream/consumers";
import { loadSettings } from "@svc/config";
import { isFault } from "@svc/proto";
import { z } from "zod";
import { settings as schema } from "../config.ts";
import { Command, runCommand } from "./command.ts";

async function main(): Promise<void> {
  const env = process.env;
  const overrides = (env["SVC_SET"] ?? "").split("\n").filter((line) => line !== "");
  const settings = loadSettings(schema, { file: env["SVC_CONFIG"], overrides });
  const command = Command.parse(JSON.parse(await text(process.stdin)));
  const answer = await runCommand(
    {
      settings,
      env,
      databaseUrl: env["SVC_ADMIN_DATABASE_URL"] || env["SVC_DATABASE_URL"] || "",
      kubeconfig: env["SVC_KUBECONFIG"] || undefined,
      natsUrl: env["SVC_NATS_URL"] || undefined,
      natsUser: env["SVC_NATS_USER"] || "migrate",
      natsPassword: env["SVC_NATS_PASSWORD"] ?? "",
      natsReplicas: Number(env["SVC_NATS_REPLICAS"]) || undefined,
      rolePasswordsFile: env["SVC_ROLE_PASSWORDS_FILE"] || undefined,
      rehearsalUrl: env[settings.ops_watchdog.rehearsal_url_ref] ?? "",
      serversPauseMs: Number(env["SVC_TEST_SERVERS_PAUSE"] ?? 10_000),
      version: env["SVC_VERSION"] ?? "0.1.0",
      killAt: env["SVC_TEST_KILL_AT"],
    },
    command,
  );
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${sentenceOf(error).replaceAll("\n", " ")}\n`);
  process.exitCode = 1;
});

/** One sentence on one line: the caller prints the last line. */
function sentenceOf(error: unknown): string {
  if (isFault(error) && error.fault === "unavailable") return "the database does not respond";
  if (error instanceof z.ZodError) return z.prettifyError(error).replace(/^✖ /, "");
  if (error instanceof AggregateError) return sentenceOf(error.errors[0]);
  return (error as Error).message;
}
