// Runs one command, as JSON on stdin, and answers with JSON on stdout.

import { text } from "node:stream/consumers";
import { loadSettings } from "@svc/config";
import { isFault } from "@svc/proto";
import { z } from "zod";
import { settings as schema } from "../config.ts";
import { Command } from "./command.ts";
import type { HostHooks } from "./context.ts";
import { runCommand } from "./run-command.ts";

/** Sets the exit code; a failure is one sentence on stderr. `hooks` are for tests. */
export async function runHost(env: NodeJS.ProcessEnv, hooks: HostHooks = defaultHooks): Promise<void> {
  // A peer that hangs must not keep the process once it has answered.
  try {
    const answer = `${JSON.stringify(await run(env, hooks))}\n`;
    process.stdout.write(answer, () => process.exit());
  } catch (error) {
    process.stderr.write(`${sentenceOf(error).replaceAll("\n", " ")}\n`, () => process.exit(1));
  }
}

const defaultHooks: HostHooks = { serversPauseMs: 10_000, step: () => undefined };

async function run(env: NodeJS.ProcessEnv, hooks: HostHooks): Promise<unknown> {
  const overrides = (env["SVC_SET"] ?? "").split("\n").filter((line) => line !== "");
  const settings = loadSettings(schema, { file: env["SVC_CONFIG"], overrides });
  const command = Command.parse(JSON.parse(await text(process.stdin)));
  return runCommand(
    {
      ...hooks,
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
      version: env["SVC_VERSION"] ?? "0.1.0",
    },
    command,
  );
}

const systemWords: Readonly<Record<string, string>> = {
  ENOENT: "not found",
  EACCES: "cannot be opened; check its owner",
  EROFS: "is on a read-only file system",
};

/** One sentence on one line: the caller prints the last line. */
function sentenceOf(error: unknown): string {
  if (isFault(error) && error.fault === "unavailable") return "the database does not respond";
  if (error instanceof z.ZodError) return z.prettifyError(error).replace(/^✖ /, "");
  if (error instanceof AggregateError) return sentenceOf(error.errors[0]);
  const { code, path, message } = error as NodeJS.ErrnoException;
  // What pg says of a server that accepts a connection and no more.
  if (message === "timeout expired") return "the database does not respond";
  if (code === "ENOSPC") return "the disk is full; free some space and try again";
  const words = path === undefined ? undefined : systemWords[code ?? ""];
  return words ? `${path} ${words}` : message;
}
