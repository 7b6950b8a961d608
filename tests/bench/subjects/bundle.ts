// A database with a million audit rows: a bundle of it, and COPY of the same tables to nowhere.

import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "@svc/local-stack";
import { migrateUp } from "@svc/store";
import { copyOut } from "../../../services/ops-watchdog/src/bundle/copy-out.ts";
import { connect } from "../../../services/ops-watchdog/src/bundle/snapshot.ts";
import { writeBundle } from "../../../services/ops-watchdog/src/bundle/write.ts";
import { ownedSchemas } from "../../../services/ops-watchdog/src/restore/schemas.ts";
import { runSql } from "../harness/anchors.ts";
import { need, serveParent } from "../harness/parent.ts";

const dir = mkdtempSync(join(need("SVC_BENCH_DIR"), "bundle-"));
const server = await startPostgres({ dataDir: join(dir, "postgres"), password: "bench" });
process.once("exit", () => rmSync(dir, { recursive: true, force: true }));

serveParent({
  fill: async (rows: number) => {
    for (const { name, migrations } of ownedSchemas())
      await migrateUp(server.url, { schema: name, rolePassword: "bench", migrations });
    await runSql(
      server.url,
      `insert into identity.audit_logs (entry_id, actor, source, action, server_name, request_id, payload, created_at)
       select gen_random_uuid()::text, 'user-' || i % 1000, 'external', 'file.write', 'server-' || i % 500, md5(i::text),
              jsonb_build_object('path', 'world/region/r.' || i || '.mca', 'sha256', md5(i::text) || md5((i + 1)::text)),
              now() - i * interval '1 second'
       from generate_series(1, ${rows}) i`,
    );
    await runSql(server.url, "vacuum analyze");
  },
  bundle: async () => {
    const folder = join(dir, "bundles");
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    const startedAt = performance.now();
    const { path } = await writeBundle({
      url: server.url,
      dir: folder,
      label: "manual",
      version: "bench",
      servers: { kind: "read", items: [] },
    });
    const seconds = (performance.now() - startedAt) / 1_000;
    return { seconds, megabytes: statSync(path).size / 1e6, peakMb: process.resourceUsage().maxRSS / 1_024 };
  },
  copy: async () => {
    const client = await connect(server.url, "bench");
    const startedAt = performance.now();
    let bytes = 0;
    for await (const chunk of copyOut(client, "copy identity.audit_logs to stdout").rows)
      bytes += (chunk as Buffer).length;
    const seconds = (performance.now() - startedAt) / 1_000;
    await client.end();
    return { seconds, megabytes: bytes / 1e6 };
  },
  end: () => server.stop(),
});
