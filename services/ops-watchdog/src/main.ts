import { runService } from "@svc/service";
import { settings } from "./config.ts";

await runService({
  name: "ops-watchdog",
  settings,
  poolSize: 4,
  start: async () => ({}),
});
