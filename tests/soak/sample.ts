// What a stack holds at a moment: memory, files and sockets of its processes, rows, messages, objects, files on the disk.

import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Kube, KubeObject, Resource } from "@svc/kube";
import { resources } from "@svc/kube";
import type pg from "pg";
import type { StackFile } from "../flow/stack.ts";

/** Names of series with their values, such as `memory lifecycle`. */
type Sample = Map<string, number>;

type Sources = { file: StackFile; dataDir: string; db: pg.Client; kube: Kube };

const pageBytes = 4_096;
const mebibyte = 1024 * 1024;

export async function takeSample({ file, dataDir, db, kube }: Sources): Promise<Sample> {
  const sample: Sample = new Map();
  for (const { name, pid } of file.processes) readProcess(sample, name, pid);
  await Promise.all([countRows(sample, db), countObjects(sample, kube), countHeaps(sample, file)]);
  const { files, bytes } = sizeOf(dataDir);
  sample.set("files in the data folder", files);
  sample.set("MiB in the data folder", bytes / mebibyte);
  return sample;
}

function readProcess(sample: Sample, name: string, pid: number): void {
  try {
    const [, resident = "0"] = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ");
    sample.set(`memory of ${name}`, (Number(resident) * pageBytes) / mebibyte);
    const open = readdirSync(`/proc/${pid}/fd`).map((fd) => targetOf(`/proc/${pid}/fd/${fd}`));
    sample.set(`sockets of ${name}`, open.filter((target) => target.startsWith("socket:")).length);
    sample.set(`files of ${name}`, open.filter((target) => target.startsWith("/")).length);
    sample.set(`threads of ${name}`, readdirSync(`/proc/${pid}/task`).length);
  } catch {
    // It ended meanwhile; the next sample has its successor.
  }
}

function targetOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

async function countRows(sample: Sample, db: pg.Client): Promise<void> {
  const { rows: tables } = await db.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  const counts = tables.map(({ name }) => `select '${name}' as name, count(*)::int as rows from ${name}`);
  const { rows } = await db.query<{ name: string; rows: number }>(counts.join(" union all "));
  for (const { name, rows: count } of rows) sample.set(`rows of ${name}`, count);
  const { rows: sessions } = await db.query<{ count: number }>(
    "select count(*)::int as count from pg_stat_activity where backend_type = 'client backend'",
  );
  sample.set("connections to PostgreSQL", sessions[0]?.count ?? 0);
}

const counted: readonly [string, Resource<KubeObject>][] = [
  ["Pods", resources.pods],
  ["Jobs", resources.jobs],
  ["Secrets", resources.secrets],
  ["StatefulSets", resources.statefulSets],
  ["PersistentVolumeClaims", resources.claims],
];

async function countObjects(sample: Sample, kube: Kube): Promise<void> {
  await Promise.all(
    counted.map(async ([name, kind]) => {
      const { items } = await kube.list(kind, { timeoutMs: 30_000 });
      sample.set(`${name} of the cluster`, items.length);
    }),
  );
}

/** Bytes that JavaScript holds, garbage included. */
async function countHeaps(sample: Sample, file: StackFile): Promise<void> {
  await Promise.all(
    file.processes.map(async ({ name, metrics }) => {
      if (metrics === undefined) return;
      const text = await fetch(metrics, { signal: AbortSignal.timeout(10_000) }).then(
        (response) => response.text(),
        () => "",
      );
      const [, used] = /^nodejs_heap_size_used_bytes (\S+)$/m.exec(text) ?? [];
      const [, handles] = /^nodejs_active_resources_total (\S+)$/m.exec(text) ?? [];
      if (used !== undefined) sample.set(`heap of ${name}`, Number(used) / mebibyte);
      if (handles !== undefined) sample.set(`handles of ${name}`, Number(handles));
    }),
  );
}

/** Folders of pods come and go meanwhile. */
function sizeOf(folder: string): { files: number; bytes: number } {
  let [files, bytes] = [0, 0];
  const waiting = [folder];
  for (const next of waiting) {
    for (const entry of orNone(() => readdirSync(next, { withFileTypes: true }))) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      if (!entry.isFile()) continue;
      for (const { blocks } of orNone(() => [statSync(path)])) {
        bytes += blocks * 512;
        files += 1;
      }
    }
  }
  return { files, bytes };
}

function orNone<Item>(read: () => Item[]): Item[] {
  try {
    return read();
  } catch {
    return [];
  }
}
