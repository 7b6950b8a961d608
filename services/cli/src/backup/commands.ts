// Operators' commands on backups, over the mesh.

import type { Mesh } from "@svc/mesh";
import { backupChanges, backupKeeping, type backups } from "@svc/proto";
import { CommandError, type Outcome, planned, sizeText, table, UsageError } from "../output.ts";
import { changesText, planChanges } from "./restore-plan.ts";
import { poll, withMesh } from "./with-mesh.ts";

type Options = { data: string };

export async function listBackups(server: string | undefined, { data }: Options): Promise<Outcome> {
  return withMesh(data, async (mesh) => {
    const rows = await findAll(mesh, server);
    const head = ["ID", "SERVER", "MADE", "SIZE", "REASON", "EXPIRES", "LABEL"];
    const lines = rows.map((row) => [
      row.id,
      row.server_name,
      row.created_at.slice(0, 19),
      sizeText(row.size_bytes),
      row.corrupt ? "CORRUPT" : row.reason,
      row.pinned ? "pinned" : row.expires_at.slice(0, 10),
      row.label,
    ]);
    return { json: rows, text: rows.length === 0 ? "There are no backups." : table([head, ...lines]) };
  });
}

async function findAll(mesh: Mesh, server?: string): Promise<backupKeeping.KeptBackup[]> {
  const rows: backupKeeping.KeptBackup[] = [];
  for (;;) {
    const page = { limit: 100, offset: rows.length, ...(server !== undefined && { server }) };
    const { backups: found, total } = await mesh.call(backupKeeping.findBackups, page);
    rows.push(...found);
    if (found.length === 0 || rows.length >= total) return rows;
  }
}

export async function listJobs(name: string, { data }: Options): Promise<Outcome> {
  const { jobs } = await withMesh(data, (mesh) => mesh.call(backupKeeping.listJobsByOperator, { name }));
  const head = ["JOB", "KIND", "STATE", "BEGAN", "MESSAGE"];
  const lines = jobs.map((job) => {
    const then = job.then_restore ? `then restore: ${job.then_restore} ${job.then_restore_reason ?? ""}` : "";
    return [job.name, job.kind, job.state, job.started_at?.slice(0, 19) ?? "", job.message ?? then];
  });
  return { json: jobs, text: jobs.length === 0 ? `${name} has no jobs.` : table([head, ...lines]) };
}

const queueStates = {
  on: "are made one at a time",
  off: "are switched off",
  store_full: "are paused: the backup store is full",
} as const;

/** Running world Jobs, and servers waiting for a restore point. */
export async function showQueue({ data }: Options): Promise<Outcome> {
  const queue = await withMesh(data, (mesh) => mesh.call(backupKeeping.readBackupQueue, {}));
  const head = ["SERVER", "KIND", "BEGAN", "SLOT", "JOB"];
  const lines = queue.running.map((one) => [
    one.server,
    one.kind,
    one.started_at.slice(0, 19),
    one.holds_slot ? "yes" : "released",
    one.job,
  ]);
  const more = queue.waiting_total > queue.waiting.length ? ", ..." : "";
  const text = [
    `Restore points ${queueStates[queue.state]}.`,
    lines.length === 0 ? "No jobs are running." : table([head, ...lines]),
    `Waiting (${queue.waiting_total}): ${queue.waiting.join(", ") || "none"}${more}`,
  ];
  return { json: queue, text: text.join("\n") };
}

export async function annotate(
  id: string,
  change: { label?: string; pinned?: boolean },
  { data }: Options,
): Promise<Outcome> {
  const row = await withMesh(data, (mesh) => mesh.call(backupKeeping.annotateBackup, { id, ...change }));
  const pin = row.pinned ? "pinned: it stays until it is unpinned" : `kept until ${row.expires_at}`;
  return { json: row, text: `${id}${row.label ? ` "${row.label}"` : ""} is ${pin}.` };
}

export async function listFiles(id: string, path: string, { data }: Options): Promise<Outcome> {
  const answer = await withMesh(data, (mesh) => mesh.call(backupKeeping.browseBackup, { id, path }));
  const lines = answer.entries.map((entry) => [
    entry.is_dir ? "-" : sizeText(entry.size),
    entry.mod_time.slice(0, 19),
    entry.is_dir ? `${entry.name}/` : entry.name,
  ]);
  const more = answer.truncated ? "\n(more entries not shown)" : "";
  return { json: answer, text: lines.length === 0 ? "The folder is empty." : table(lines) + more };
}

const marks = { added: "+", changed: "~", removed: "-" } as const;

/** Files that the second backup has otherwise than the first. */
export async function diff(
  { since, id, path }: { since: string; id: string; path: string },
  { data }: Options,
): Promise<Outcome> {
  const answer = await withMesh(data, (mesh) => mesh.call(backupChanges.compareBackups, { id, since, path }));
  const lines = answer.files.map((file) => [marks[file.change], sizeText(file.size), file.path]);
  const { added, changed, removed, same } = answer;
  const end = [
    `${added} added (+), ${changed} changed (~), ${removed} removed (-), ${same} the same.`,
    ...(answer.truncated ? ["Only the first are shown."] : []),
    ...(answer.exact
      ? []
      : ["A backup has no digests of some files: those of the same size are told apart by their times."]),
  ];
  return { json: answer, text: [...(lines.length > 0 ? [table(lines)] : []), ...end].join("\n") };
}

type RestoreOptions = Options & { yes?: boolean; snapshot: boolean };

/** The whole world, or only these files and folders of it. */
export async function restore(
  id: string,
  paths: readonly string[],
  options: RestoreOptions,
): Promise<Outcome> {
  const only = paths.length > 0 ? { only: [...paths] } : {};
  const what = paths.length > 0 ? paths.join(", ") : "the whole world";
  const input = { id, ...only, safety_snapshot: options.snapshot };
  if (!options.yes) {
    const found = await withMesh(options.data, async (mesh) => {
      await checkThere(mesh, id, paths);
      return planChanges(mesh, { id, ...only });
    });
    const first = options.snapshot ? "back up the current world, then " : "";
    const text = `Plan: ${first}restore ${what} from ${id}.\n${changesText(found)}`;
    return planned({ ...input, ...found }, text);
  }
  return withMesh(options.data, async (mesh) => {
    const { name } = await mesh.call(backupKeeping.restoreByOperator, input);
    process.stderr.write(`${name}: restoring\n`);
    const last = await poll(async () =>
      restoreEnd((await mesh.call(backupKeeping.listJobsByOperator, { name })).jobs, id),
    );
    const isDone = last.kind === "restore" && last.state === "succeeded";
    const why = last.message ?? last.then_restore_reason ?? "unknown";
    return {
      json: last,
      text: isDone ? `${name}: ${what} restored.` : `${name} was not restored: ${why}`,
      exitCode: isDone ? 0 : 1,
    };
  });
}

/** Fails before a plan is printed when backup or path does not exist. */
async function checkThere(mesh: Mesh, id: string, paths: readonly string[]): Promise<void> {
  const row = (await findAll(mesh)).find((one) => one.id === id);
  if (!row) throw new CommandError(`backup ${id} not found; list backups with \`svc backup list\``);
  for (const path of paths) {
    const parts = path.split("/").filter((part) => part !== "");
    const folder = parts.slice(0, -1).join("/");
    const { entries, truncated } = await mesh.call(backupKeeping.browseBackup, { id, path: folder });
    const isThere = truncated || entries.some(({ name }) => name === parts.at(-1));
    if (!isThere)
      throw new CommandError(
        `${id} does not contain ${path}; list its files with \`svc backup files ${id} ${folder}\``,
      );
  }
}

/** The Job that shows how the newest restore of a backup ended; undefined before its end. `jobs`: newest first. */
export function restoreEnd(jobs: readonly backups.WorldJob[], id: string): backups.WorldJob | undefined {
  const newest = jobs.find(({ restore_backup_id }) => restore_backup_id === id);
  return newest?.state === "running" || newest?.then_restore === "pending" ? undefined : newest;
}

/** Restores into a scratch volume and boots the server there; the world itself is not touched. */
export async function drill(name: string, options: Options & { backup?: string }): Promise<Outcome> {
  const { data, backup } = options;
  return withMesh(data, async (mesh) => {
    const input = { name, ...(backup !== undefined && { backup_id: backup }) };
    const started = await mesh.call(backupKeeping.startDrill, input);
    let printed = "";
    const end = await poll(async () => {
      const now = await mesh.call(backupKeeping.readDrill, { id: started.id });
      if (now.state !== printed) process.stderr.write(`${name}: ${now.state}\n`);
      printed = now.state;
      return now.finished_at === undefined ? undefined : now;
    });
    const isPassed = end.state === "passed";
    const text = isPassed
      ? `${end.backup_id} works: ${name} booted from it in ${end.boot_seconds} s (${end.version}).`
      : `${end.backup_id} did not pass: ${end.message}`;
    return { json: end, text, exitCode: isPassed ? 0 : 1 };
  });
}

/** Argument of a command that needs one. */
export function required(value: string | undefined, what: string): string {
  if (value) return value;
  throw new UsageError(`name a ${what}`);
}
