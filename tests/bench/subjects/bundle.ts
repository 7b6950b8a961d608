// A bundle of a database, or COPY of its audit rows to nowhere, in a process that does nothing else.

import { mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { copyOut } from "../../../services/ops-watchdog/src/bundle/copy-out.ts";
import { connect } from "../../../services/ops-watchdog/src/bundle/snapshot.ts";
import { writeBundle } from "../../../services/ops-watchdog/src/bundle/write.ts";
import { need, serveParent } from "../harness/parent.ts";

const folder = join(need("SVC_BENCH_DIR"), "bundles");

serveParent({
  bundle: async (url: string) => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    const startedAt = performance.now();
    const { path } = await writeBundle({
      url,
      dir: folder,
      label: "manual",
      version: "bench",
      servers: { kind: "read", items: [] },
    });
    const seconds = (performance.now() - startedAt) / 1_000;
    return { seconds, megabytes: statSync(path).size / 1e6 };
  },
  copy: async (url: string) => {
    const client = await connect(url, "bench");
    const startedAt = performance.now();
    let bytes = 0;
    for await (const chunk of copyOut(client, "copy identity.audit_logs to stdout").rows)
      bytes += (chunk as Buffer).length;
    const seconds = (performance.now() - startedAt) / 1_000;
    await client.end();
    return { seconds, megabytes: bytes / 1e6 };
  },
});
