import { runService } from "@svc/service";
import { settings } from "./config.ts";
import { startLifecycle } from "./service.ts";

await runService({
  name: "lifecycle",
  settings,
  migrations: new URL("../migrations/", import.meta.url),
  start: (runtime) => startLifecycle(runtime),
});
