import { runService } from "@svc/service";
import { settings } from "./config.ts";

await runService({
  name: "builds",
  settings,
  migrations: new URL("../migrations/", import.meta.url),
  poolSize: 4,
  start: async () => ({}),
});
