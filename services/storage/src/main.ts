import { runService } from "@svc/service";
import { settings } from "./config.ts";

await runService({
  name: "storage",
  settings,
  poolSize: 4,
  start: async () => ({}),
});
