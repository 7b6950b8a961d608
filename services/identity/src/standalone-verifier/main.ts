// `svc nano`: the session verifier alone.

import { loadSettings } from "@svc/config";
import { createLogger } from "@svc/telemetry";
import { settings as schema } from "../config.ts";
import { createVerifier } from "../session-verifier/verify.ts";
import { helpText, parseArguments } from "./arguments.ts";
import { startServer } from "./server.ts";

async function run(argv: readonly string[]): Promise<void> {
  const { help, file, overrides, host, port } = parseArguments(argv);
  if (help) return void process.stdout.write(helpText);
  const settings = loadSettings(schema, { file, overrides });
  const log = createLogger("nano", "info");
  const server = await startServer({ host, port, verify: createVerifier({ settings, log }), log });
  const sources = ["mojang", ...settings.auth_source.map(({ tag }) => tag)];
  log.info({ host, port: server.port, sources }, "ready");
  // A terminal signals the whole group, and `svc nano` forwards the signal as well.
  const end = () => void server.close().then(() => process.exit(0));
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, end);
}

await run(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`svc nano: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
