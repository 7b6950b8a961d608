import { runService } from "@svc/service";
import { settings } from "./config.ts";
import type { Tables } from "./database.ts";
import { startIdentity } from "./service.ts";

await runService<typeof settings, Tables>({
  name: "identity",
  settings,
  migrations: new URL("../migrations/", import.meta.url),
  start: startIdentity,
});
