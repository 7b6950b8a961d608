// The database anchor: one row updated and one outbox row inserted in a transaction. pgbench where it is installed,
// else the `pg` driver with named statements and the same number of clients.

import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { quantile } from "./statistics.ts";

export type TxnFigures = { perSecond: number; p50Ms: number };
type TxnAnchor = { tool: string; run: (clients: number, seconds: number) => Promise<TxnFigures> };

const rows = 10_000;
const script = `\\set id random(1, ${rows})
begin;
update anchor_state set phase = 'Running', at = now() where id = :id;
insert into anchor_outbox (subject, body) values ('svc.evt.lifecycle.server.phase-changed.bench', repeat('x', 150));
commit;
`;

const schema = `
create table if not exists anchor_state (id int primary key, phase text not null, at timestamptz not null);
create table if not exists anchor_outbox (id bigint generated always as identity primary key, subject text not null,
  body text not null, created_at timestamptz not null default now());
truncate anchor_state, anchor_outbox;
insert into anchor_state select n, 'Stopped', now() from generate_series(1, ${rows}) n;
analyze anchor_state;`;

function run(command: string, args: readonly string[]): Promise<{ code: number; text: string }> {
  return new Promise((settle) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => (text += chunk));
    child.stderr.on("data", (chunk: Buffer) => (text += chunk));
    child.on("error", (error) => settle({ code: 127, text: error.message }));
    child.on("close", (code) => settle({ code: code ?? 1, text }));
  });
}

async function withPgbench(url: string, clients: number, seconds: number): Promise<TxnFigures> {
  const dir = mkdtempSync(join(tmpdir(), "svc-pgbench-"));
  try {
    const file = join(dir, "txn.sql");
    writeFileSync(file, script);
    const size = ["-c", String(clients), "-j", "1", "-T", String(seconds)];
    const log = ["--log", "--log-prefix", join(dir, "log")];
    const { code, text } = await run("pgbench", ["-n", "-M", "prepared", ...size, ...log, "-f", file, url]);
    if (code !== 0) throw new Error(`pgbench ended with ${code}: ${text}`);
    const micros = readdirSync(dir)
      .filter((name) => name.startsWith("log"))
      .flatMap((name) => readFileSync(join(dir, name), "utf8").trim().split("\n"))
      .map((entry) => Number(entry.split(" ")[2]));
    const perSecond = Number(/tps = ([\d.]+)/.exec(text)?.[1] ?? 0);
    return { perSecond, p50Ms: quantile(Float64Array.from(micros).sort(), 0.5) / 1_000 };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function withDriver(url: string, clients: number, seconds: number): Promise<TxnFigures> {
  const latencies: number[] = [];
  const endAt = performance.now() + seconds * 1_000;
  const worker = async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    while (performance.now() < endAt) {
      const startedAt = performance.now();
      await client.query("begin");
      await client.query({
        name: "anchor-update",
        text: "update anchor_state set phase = 'Running', at = now() where id = $1",
        values: [1 + Math.floor(Math.random() * rows)],
      });
      await client.query({
        name: "anchor-insert",
        text: "insert into anchor_outbox (subject, body) values ($1, $2)",
        values: ["svc.evt.lifecycle.server.phase-changed.bench", "x".repeat(150)],
      });
      await client.query("commit");
      latencies.push(performance.now() - startedAt);
    }
    await client.end();
  };
  await Promise.all(Array.from({ length: clients }, worker));
  return { perSecond: latencies.length / seconds, p50Ms: quantile(Float64Array.from(latencies).sort(), 0.5) };
}

/** Makes the tables of the anchor in the database of `url` and finds the tool. */
export async function prepareTxnAnchor(url: string): Promise<TxnAnchor> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(schema);
  await client.end();
  const { code } = await run("pgbench", ["--version"]);
  if (code === 0) return { tool: "pgbench", run: (clients, seconds) => withPgbench(url, clients, seconds) };
  return { tool: "pg driver", run: (clients, seconds) => withDriver(url, clients, seconds) };
}
