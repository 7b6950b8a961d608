import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { ConfigError, loadConfig } from "./config.ts";
import { createLog } from "./console/log.ts";
import type { DemoServer } from "./server.ts";

// The game's libraries use deprecated parts of Node; that is no news for who reads this console.
process.noDeprecation = true;

const log = createLog((line) => process.stdout.write(`${line}\n`));
const lastSaveMs = 5_000;
let server: DemoServer | undefined;
let ending: Promise<void> | undefined;
let exitCode = 0;

function end(): Promise<void> {
  ending ??= stopAndExit();
  return ending;
}

async function stopAndExit(): Promise<void> {
  try {
    await server?.stop();
  } catch (error) {
    log.error(`The world could not be saved: ${messageOf(error)}`);
    exitCode = 1;
  }
  process.exit(exitCode);
}

async function crash(error: unknown): Promise<void> {
  log.error(`The server crashed: ${messageOf(error)}`);
  exitCode = 1;
  await Promise.race([end(), delay(lastSaveMs)]);
  process.exit(exitCode);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function stopOnRequest(): void {
  void end();
}

process.on("SIGTERM", stopOnRequest);
process.on("SIGINT", stopOnRequest);
// A line that can't be written would be an uncaught exception, which is logged, and so on without end.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") stopOnRequest();
});
process.on("uncaughtException", (error) => void crash(error));
// flying-squid leaves promises of players who go while they join; one of those must not end everyone's game.
process.on("unhandledRejection", (error) => log.warn(`A task failed: ${messageOf(error)}`));

/** One after another, so that replies come in the order of the lines. */
function readCommands({ run }: DemoServer): void {
  let last = Promise.resolve();
  createInterface({ input: process.stdin }).on("line", (line) => {
    last = last
      .then(() => run(line))
      .then((reply) => {
        if (reply) log.info(reply);
      })
      .catch((error: unknown) => log.error(messageOf(error)));
  });
}

async function main(): Promise<void> {
  const config = loadConfig(process.env);
  // Loaded late, so that a wrong setting is answered before half a second of loading.
  const { startDemoServer } = await import("./server.ts");
  server = await startDemoServer({ config, log, onStopRequest: () => setImmediate(stopOnRequest) });
  if (ending !== undefined) return;
  readCommands(server);
  log.info(`Done (${process.uptime().toFixed(3)}s)! For help, type "help"`);
}

main().catch((error: unknown) => {
  const isExpected = error instanceof ConfigError || (error instanceof Error && "syscall" in error);
  log.error(`The server could not start: ${isExpected ? error.message : messageOf(error)}`);
  process.exit(1);
});
