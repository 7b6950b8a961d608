import { ConfigError } from "@svc/config";
import { createLogger, createRegistry, startHealthServer } from "@svc/telemetry";
import { loadConfig } from "./config.ts";
import { startProxy } from "./proxy.ts";

const environment = process.env;

async function main(): Promise<void> {
  const config = loadConfig(environment);
  const log = createLogger("proxy", environment["SVC_LOG_LEVEL"] ?? "info");
  const metrics = createRegistry("proxy", environment["SVC_VERSION"] ?? "0.1.0");
  const told = new Promise<void>((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve());
  });
  const proxy = await startProxy(config, { log, metrics });
  const health = await startHealthServer({
    host: environment["SVC_HEALTH_HOST"] ?? "127.0.0.1",
    port: Number(environment["SVC_HEALTH_PORT"] ?? 0),
    registry: metrics,
    isReady: async () => proxy.isReady(),
  });
  log.info({ port: proxy.port, health_port: health.port }, "ready");
  await told;
  log.info("stopping");
  await proxy.close();
  await health.close();
  process.exit(0);
}

main().catch((error: unknown) => {
  const isExpected = error instanceof ConfigError || (error instanceof Error && "syscall" in error);
  process.stderr.write(`proxy: ${isExpected ? error.message : String((error as Error)?.stack ?? error)}\n`);
  process.exit(1);
});
