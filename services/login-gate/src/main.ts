import { runEdge } from "@svc/service/edge";
import { loadConfig } from "./config.ts";
import { startGate } from "./service.ts";

await runEdge({
  name: "login-gate",
  loadConfig,
  start: async ({ config, log, registry }) => {
    for (const warning of config.warnings) log.warn(warning);
    const { gamePort, healthPort, close } = await startGate({ config, log, registry });
    return { ready: { gamePort, health_port: healthPort }, stop: close };
  },
});
