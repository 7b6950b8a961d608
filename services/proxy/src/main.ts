import { runEdge } from "@svc/service/edge";
import { loadConfig } from "./config.ts";
import { startProxy } from "./proxy.ts";

await runEdge({
  name: "proxy",
  loadConfig,
  start: async ({ config, log, registry }) => {
    const { port, isReady, close } = await startProxy(config, { log, metrics: registry });
    return { ready: { port }, notReady: isReady, stop: close };
  },
});
