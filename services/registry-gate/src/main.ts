import { runEdge } from "@svc/service/edge";
import { createLogger } from "@svc/telemetry";
import { runCollection } from "./collect/run.ts";
import { loadConfig } from "./config.ts";
import { startGate } from "./service.ts";

const name = "registry-gate";

if (process.argv[2] === "garbage-collect") {
  const aborting = new AbortController();
  process.once("SIGTERM", () => aborting.abort(new Error("the collection was stopped")));
  const log = createLogger(name);
  try {
    process.exitCode = await runCollection(loadConfig(process.env), log, aborting.signal);
  } catch (error) {
    process.stderr.write(`${name}: ${(error as Error).message}\n`);
    process.exitCode = 1;
  }
} else {
  await runEdge({
    name,
    loadConfig,
    start: async ({ config, log, registry }) => {
      const { port, leasePort, close } = await startGate({ config, log, registry });
      return { ready: { port, leasePort }, notReady: () => undefined, stop: close };
    },
  });
}
