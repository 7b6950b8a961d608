import { runService } from "@svc/service";
import { settings } from "./config.ts";
import type { Tables } from "./database.ts";
import { startOpsWatchdog } from "./service.ts";

await runService<typeof settings, Tables>({
  name: "ops-watchdog",
  settings,
  migrations: new URL("../migrations/", import.meta.url),
  poolSize: 4,
  start: startOpsWatchdog,
});
