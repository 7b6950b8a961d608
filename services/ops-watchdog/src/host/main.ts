// Database bundles and off-site copies for the person at the host (docs/reference/database-backups.md#commands,
// docs/reference/off-site.md#commands). `svc` starts it with one command; it needs no running service for bundles.

import { runHost } from "./run.ts";

await runHost(process.env);
