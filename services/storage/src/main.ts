import { runService } from "@svc/service";
import { settings } from "./config.ts";
import type { Tables } from "./database/tables.ts";
import { startStorage } from "./service.ts";

await runService<typeof settings, Tables>({
  name: "storage",
  settings,
  migrations: new URL("../migrations/", import.meta.url),
  poolSize: 6,
  start: (runtime) => startStorage(runtime),
});
