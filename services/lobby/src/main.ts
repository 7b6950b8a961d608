import { createLogger } from "@svc/telemetry";
import { loadConfig } from "./config.ts";
import { startLobby } from "./service.ts";

const log = createLogger("lobby");

async function main(): Promise<void> {
  const config = loadConfig(process.env);
  for (const warning of config.warnings) log.warn(warning);
  const lobby = await startLobby({ config, log });
  log.info({ gamePort: lobby.gamePort }, "ready");
  let isEnding = false;
  const end = () => {
    if (isEnding) return;
    isEnding = true;
    lobby.close().then(
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
