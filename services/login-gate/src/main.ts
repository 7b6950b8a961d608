import { createLogger, createRegistry } from "@svc/telemetry";
import { loadConfig } from "./config.ts";
import { startGate } from "./service.ts";

const log = createLogger("login-gate");

async function main(): Promise<void> {
  const config = loadConfig(process.env);
  for (const warning of config.warnings) log.warn(warning);
  const gate = await startGate({ config, log, registry: createRegistry("login-gate", "0.1.0") });
  log.info({ gamePort: gate.gamePort, health_port: gate.healthPort }, "ready");
  let isEnding = false;
  const end = () => {
    if (isEnding) return;
    isEnding = true;
    gate.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on("SIGTERM", end);
  process.on("SIGINT", end);
}

main().catch((error: unknown) => {
  log.error({ err: error }, "start failed");
  process.exit(1);
});
