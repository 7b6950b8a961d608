import { runService } from "@svc/service";
import { settings } from "./config.ts";

await runService({
  name: "ops-watchdog",
  settings,
  migrations: new URL("../migrations/", import.meta.url),
  poolSize: 4,
  start: async () => ({}),
});
