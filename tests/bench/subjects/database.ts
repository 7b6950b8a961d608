// A database with audit rows, for bundles of it.

import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "@svc/local-stack";
import { migrateUp } from "@svc/store";
import { ownedSchemas } from "../../../services/ops-watchdog/src/restore/schemas.ts";
import { runSql } from "../harness/anchors.ts";
import { need, serveParent } from "../harness/parent.ts";

const dir = mkdtempSync(join(need("SVC_BENCH_DIR"), "database-"));
const server = await startPostgres({ dataDir: join(dir, "postgres"), password: "bench" });
process.once("exit", () => rmSync(dir, { recursive: true, force: true }));

serveParent({
  /** Answers the address of the database. */
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
    return server.url;
  },
  end: () => server.stop(),
});
