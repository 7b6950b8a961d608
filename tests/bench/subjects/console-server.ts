// A running server of the stack whose console a bench writes, by its container's log file: what its process does.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "@svc/local-stack/testing";
import type { BenchStack } from "../harness/stack.ts";

export const consoleServer = "bench-console";

/** Wakes the server; the log file of its container. */
export async function startConsoleServer(stack: BenchStack): Promise<string> {
  await stack.ensureServer(consoleServer);
  const path = `/api/v1/servers/${consoleServer}`;
  const phase = async () =>
    ((await stack.external("GET", `${path}/status`)).body as { phase?: string }).phase;
  await until(async () => (await phase()) === "Stopped", 30_000, `${consoleServer} to be known`);
  const before = logFiles(stack.dir);
  const { status, body } = await stack.external("POST", `${path}/wake`);
  if (status >= 300) throw new Error(`waking ${consoleServer} answered ${status}: ${JSON.stringify(body)}`);
  await until(async () => (await phase()) === "Running", 120_000, `${consoleServer} to run`);
  const [file] = logFiles(stack.dir).filter((one) => !before.includes(one));
  if (!file) throw new Error(`${consoleServer} has no log`);
  return file;
}

/** Logs of the containers that ran servers, in a stack's data folder. */
export function logFiles(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: "utf8" })
    .filter((path) => /containers\/minecraft\/runs\/\d+\/log$/.test(path))
    .map((path) => join(dir, path));
}
