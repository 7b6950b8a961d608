import { runService } from "@svc/service";
import { settings } from "./config.ts";

await runService({
  name: "builds",
  settings,
  poolSize: 4,
  start: async () => ({}),
});
