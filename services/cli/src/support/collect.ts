// The parts of a support bundle, each read on its own: what does not answer is missing and said so.

import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { arch, cpus, freemem, loadavg, release, totalmem, uptime } from "node:os";
import { join } from "node:path";
import { connectKube, type KubeObject, type Resource, resource } from "@svc/kube";
import type { StackFile } from "@svc/local-stack";
import pg from "pg";
import { buildVersion, environment, migrateEnvironment } from "../config.ts";
import { databaseVariables } from "../database/environment.ts";
import { schemas } from "../database/schemas.ts";
import { collectEvents } from "../events/events.ts";
import { joinAsOperator } from "../operator-mesh.ts";
import { doctor } from "../stack/doctor.ts";
import { status } from "../stack/status.ts";
import { readStackFile } from "../stack-file.ts";

export type Part = { file: string; read: () => Promise<string> };

const logTailBytes = 512 * 1024;
const eventsSinceMs = 3_600_000;
const mostEvents = 2_000;
const scrapeWithinMs = 5_000;

const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;

/** Everything that helps to find a fault; nothing is redacted yet. */
export function partsOf(data: string): Part[] {
  const stack = findStack(data);
  const env = environment();
  return [
    { file: "versions.json", read: async () => json(versions()) },
    {
      file: "settings.toml",
      read: async () => readFileSync(env["SVC_CONFIG"] || join(data, "svc.toml"), "utf8"),
    },
    { file: "environment.json", read: async () => json(ownVariables(env)) },
    { file: "stack.json", read: async () => json(readStackFile(data)) },
    { file: "doctor.json", read: async () => json((await doctor({ data })).json) },
    { file: "status.json", read: async () => json((await status({ data })).json) },
    { file: "events.jsonl", read: () => recentEvents(data) },
    { file: "streams.json", read: () => streams(data) },
    { file: "database.json", read: () => database(data) },
    { file: "cluster.json", read: () => cluster(stack, env) },
    ...(stack?.processes ?? []).flatMap(({ name, log, metrics }) => [
      { file: `logs/${name}.log`, read: async () => tailOf(log) },
      ...(metrics === undefined ? [] : [{ file: `metrics/${name}.prom`, read: () => scrape(metrics) }]),
    ]),
    ...(stack
      ? [{ file: "logs/supervisor.log", read: async () => tailOf(join(data, "logs", "supervisor.log")) }]
      : []),
  ];
}

function findStack(data: string): StackFile | undefined {
  try {
    return readStackFile(data);
  } catch {
    return undefined;
  }
}

function versions(): object {
  return {
    svc: buildVersion,
    node: process.version,
    system: `${process.platform} ${arch()} ${release()}`,
    processors: cpus().length,
    load: loadavg(),
    memory_bytes: { total: totalmem(), free: freemem() },
    uptime_seconds: Math.round(uptime()),
  };
}

/** Only variables of svc and of Node; others are nobody's business. */
function ownVariables(env: NodeJS.ProcessEnv): object {
  return Object.fromEntries(Object.entries(env).filter(([name]) => /^(SVC_|NODE_)/.test(name)));
}

/** The last lines of a file; the first of them is whole. */
function tailOf(path: string): string {
  const { size } = statSync(path);
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(Math.min(size, logTailBytes));
    const length = readSync(file, bytes, 0, bytes.length, size - bytes.length);
    const text = bytes.subarray(0, length).toString("utf8");
    return size > length ? text.slice(text.indexOf("\n") + 1) : text;
  } finally {
    closeSync(file);
  }
}

async function recentEvents(data: string): Promise<string> {
  const events = await collectEvents(data, new Date(Date.now() - eventsSinceMs));
  const newest = events.sort((a, b) => a.at.localeCompare(b.at)).slice(-mostEvents);
  return newest.map((event) => `${JSON.stringify(event)}\n`).join("");
}

async function streams(data: string): Promise<string> {
  const mesh = await joinAsOperator(data);
  try {
    return json(await mesh.streams());
  } finally {
    await mesh.drain(1_000);
  }
}

/** Migrations, sizes and connections; no rows. */
async function database(data: string): Promise<string> {
  const { adminUrl, databaseUrl } = migrateEnvironment(databaseVariables(data));
  const client = new pg.Client({
    connectionString: adminUrl || databaseUrl,
    connectionTimeoutMillis: 3_000,
    query_timeout: 10_000,
  });
  await client.connect();
  try {
    const rows = async (text: string) => (await client.query<Record<string, unknown>>(text)).rows;
    const migrations: Record<string, unknown> = {};
    for (const { name, migrations: own } of schemas()) {
      const schema = pg.escapeIdentifier(name);
      const applied = await rows(`select * from ${schema}.schema_migrations order by version`);
      const [outbox] = await rows(`select count(*)::int as waiting from ${schema}.outbox`);
      migrations[name] = { of_this_build: own.length, applied, outbox_waiting: outbox?.["waiting"] };
    }
    return json({
      server: (await rows("select version()"))[0]?.["version"],
      size_bytes: Number((await rows("select pg_database_size(current_database()) as bytes"))[0]?.["bytes"]),
      migrations,
      tables: await rows(
        `select schemaname, relname, n_live_tup::int as rows, n_dead_tup::int as dead, last_autovacuum
         from pg_stat_user_tables order by 1, 2`,
      ),
      connections: await rows(
        `select application_name, state, wait_event_type, count(*)::int as count
         from pg_stat_activity where datname = current_database() group by 1, 2, 3 order by 1, 2, 3`,
      ),
    });
  } finally {
    await client.end();
  }
}

type ClusterObject = KubeObject & {
  spec?: { nodeName?: string; desiredState?: string };
  status?: Record<string, unknown>;
};

const kinds = {
  servers: resource<ClusterObject>({
    group: "svc.internal",
    version: "v1alpha1",
    kind: "MinecraftServer",
    plural: "minecraftservers",
    namespaced: true,
  }),
  pods: resource<ClusterObject>({ group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true }),
};

/** Servers and pods with their status; specifications may hold what their owners wrote. */
async function cluster(stack: StackFile | undefined, env: NodeJS.ProcessEnv): Promise<string> {
  const kube = connectKube({ kubeconfigFile: stack?.kubeconfig ?? env["SVC_KUBECONFIG"] });
  const listed = async (kind: Resource<ClusterObject>) => {
    const { items } = await kube.list(kind, {});
    return items.map(({ metadata: { name, namespace, creationTimestamp }, spec, status: state }) => ({
      ...{ name, namespace, created: creationTimestamp, node: spec?.nodeName, desired: spec?.desiredState },
      status: state,
    }));
  };
  try {
    const [version, servers, pods] = await Promise.all([
      kube.version(),
      listed(kinds.servers),
      listed(kinds.pods),
    ]);
    return json({ version, servers, pods });
  } finally {
    kube.close();
  }
}

async function scrape(address: string): Promise<string> {
  return (await fetch(address, { signal: AbortSignal.timeout(scrapeWithinMs) })).text();
}
