import { readEnvironment, runService } from "@svc/service";
import { settings } from "./config.ts";
import type { Tables } from "./database.ts";
import { startWatching } from "./loop/start-watching.ts";
import { startOpsWatchdog } from "./service.ts";

// What is wrong with arguments and settings is for the start below to report.
const watching = await watchFirst().catch(() => undefined);

await runService<typeof settings, Tables>({
  name: "ops-watchdog",
  settings,
  migrations: new URL("../migrations/", import.meta.url),
  poolSize: 4,
  start: async (runtime) => {
    const running = await startOpsWatchdog(runtime);
    return {
      ...running,
      stop: () => Promise.all([watching?.close(), running.stop?.()]).then(() => undefined),
    };
  },
});

async function watchFirst() {
  const environment = readEnvironment("ops-watchdog");
  return environment.help || environment.version ? undefined : startWatching(environment);
}
