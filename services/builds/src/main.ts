import { runService } from "@svc/service";
import { settings } from "./config.ts";
import type { Tables } from "./database.ts";
import { startBuilds } from "./service.ts";

await runService<typeof settings, Tables>({
  name: "builds",
  settings,
  migrations: new URL("../migrations/", import.meta.url),
  poolSize: 4,
  start: startBuilds,
});
