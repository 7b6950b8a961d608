import { runEdge } from "@svc/service/edge";
import { loadConfig } from "./config.ts";
import { startLobby } from "./service.ts";

await runEdge({
  name: "lobby",
  loadConfig,
  start: async ({ config, log }) => {
    for (const warning of config.warnings) log.warn(warning);
    const { gamePort, close } = await startLobby({ config, log });
    return { ready: { gamePort }, stop: close };
  },
});
