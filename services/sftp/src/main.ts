import { runEdge } from "@svc/service/edge";
import { loadConfig } from "./config.ts";
import { startSftp } from "./service.ts";

await runEdge({ name: "sftp", loadConfig, start: startSftp });
