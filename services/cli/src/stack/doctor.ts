import { statfsSync } from "node:fs";
import { connectKube } from "@svc/kube";
import type { Mesh } from "@svc/mesh";
import { owners } from "@svc/proto";
import pg from "pg";
import { databaseVariables } from "../database/environment.ts";
import { type Differences, differenceLines } from "../database/restore.ts";
import { findUnfinishedRestore } from "../database/rights.ts";
import { schemas } from "../database/schemas.ts";
import { askWatchdog } from "../database/watchdog.ts";
import { attempt, type Finding, findingsOutcome } from "../findings.ts";
import { hint } from "../hint.ts";
import { joinAsOperator } from "../operator-mesh.ts";
import type { Outcome } from "../output.ts";
import { readStackFile } from "../stack-file.ts";
import { pingGame } from "./ping.ts";

const freeAtLeast = 0.1;
const answerWithinMs = 2_000;

/** Checks everything that the stack depends on; exit code 1 when there is a problem. */
export async function doctor(options: { data: string }): Promise<Outcome> {
  const stack = readStackFile(options.data);
  const findings = [
    disk(options.data),
    ...processes(stack.processes),
    ...(await mesh(options.data)),
    ...(await database(options.data, stack.database_url)),
    await attempt("cluster", () => cluster(stack.kubeconfig)),
    await attempt("restore", () => unfinishedRestore(stack.database_url)),
    await attempt("servers", () => serverDifferences(options.data)),
    ...(stack.registry === undefined
      ? []
      : [await attempt("registry", () => registry(stack.registry?.host))]),
    ...(stack.forwarding_secret === undefined
      ? []
      : [await attempt("game port", () => pingGame(stack.game, answerWithinMs))]),
  ];
  return findingsOutcome(findings);
}

function disk(dir: string): Finding {
  const { bavail, blocks } = statfsSync(dir);
  const free = bavail / blocks;
  const detail = `${Math.round(free * 100)} % free${free < freeAtLeast ? "; free some space, svc needs 10 % free" : ""}`;
  return { check: "disk", ok: free >= freeAtLeast, detail };
}

function processes(listed: readonly { name: string; pid: number; log: string }[]): Finding[] {
  return listed.map(({ name, pid, log }) => {
    const isThere = isRunning(pid);
    return {
      check: `process ${name}`,
      ok: isThere,
      detail: isThere ? `pid ${pid}` : `is not running; see ${log}`,
    };
  });
}

/** True while a process of that id exists. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function mesh(dataDir: string): Promise<Finding[]> {
  let joined: Mesh;
  try {
    joined = await joinAsOperator(dataDir);
  } catch (error) {
    return [{ check: "NATS", ok: false, detail: (error as Error).message }];
  }
  try {
    const found = await joined.discover(answerWithinMs);
    const services = owners.map((owner) => {
      const replicas = found.filter((service) => service.name === owner).length;
      return {
        check: `service ${owner}`,
        ok: replicas > 0,
        detail: replicas > 0 ? `${replicas} answering` : "does not answer; see its log",
      };
    });
    return [
      { check: "NATS", ok: true, detail: joined.status().server },
      ...services,
      ...(await deadLetters(joined)),
    ];
  } finally {
    await joined.drain(1_000);
  }
}

async function deadLetters(joined: Mesh): Promise<Finding[]> {
  const all = await Promise.all(owners.map((owner) => joined.deadLetters(owner)));
  return all.flat().map(({ durable, count, newest }) => ({
    check: `dead letters ${durable}`,
    ok: false,
    detail: `${count} given up, latest at ${newest.at}: ${newest.error}`,
  }));
}

async function database(dataDir: string, url: string): Promise<Finding[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 3_000 });
  try {
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>("show server_version");
    const versions: Finding[] = [];
    for (const schema of schemas()) versions.push(await schemaFinding(client, schema, dataDir));
    return [{ check: "PostgreSQL", ok: true, detail: rows[0]?.server_version ?? "" }, ...versions];
  } catch (error) {
    return [{ check: "PostgreSQL", ok: false, detail: (error as Error).message }];
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function schemaFinding(
  client: pg.Client,
  schema: ReturnType<typeof schemas>[number],
  dataDir: string,
): Promise<Finding> {
  const name = pg.escapeIdentifier(schema.name);
  return attempt(`schema ${schema.name}`, async () => {
    const { rows } = await client.query<{ version: number; waiting: number }>(
      `select (select coalesce(max(version), 0) from ${name}.schema_migrations) as version,
              (select count(*)::int from ${name}.outbox) as waiting`,
    );
    const { version = 0, waiting = 0 } = rows[0] ?? {};
    if (version !== schema.migrations.length) {
      const run = hint(dataDir, "migrate up");
      throw new Error(`is at migration ${version} of ${schema.migrations.length}; run ${run}`);
    }
    return `at migration ${version}, ${waiting} events waiting`;
  });
}

async function unfinishedRestore(url: string): Promise<string> {
  const bundle = await findUnfinishedRestore(url);
  if (bundle === undefined) return "none is unfinished";
  throw new Error(`the restore of ${bundle} did not finish; run it again`);
}

async function serverDifferences(dataDir: string): Promise<string> {
  const found = await askWatchdog<Differences>(databaseVariables(dataDir), { do: "differences" });
  const lines = differenceLines(found);
  if (lines.length === 0) return "database and cluster agree";
  throw new Error(lines.join(" "));
}

async function cluster(kubeconfig: string): Promise<string> {
  const kube = connectKube({ kubeconfigFile: kubeconfig });
  return kube.version().finally(kube.close);
}

async function registry(host = ""): Promise<string> {
  const answer = await fetch(`http://${host}/v2/_catalog?n=1`, {
    signal: AbortSignal.timeout(answerWithinMs),
  });
  if (answer.ok) return `answers at ${host}`;
  throw new Error(`answers ${answer.status} at ${host}; see the logs of registry and registry-gate`);
}
