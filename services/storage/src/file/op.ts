// Background operations on files (docs/reference/files.md#background). A replica records the operation before its Job exists; any
// replica records its end, by compare-and-set. States: running (preparing, then with a Job) -> succeeded | failed.

import { randomBytes } from "node:crypto";
import type { BucketEntry } from "@svc/mesh";
import type { files } from "@svc/proto";
import { logDepsOf } from "../deps.ts";
import { type JobState, type Outcome, observeJob, readProgress } from "../job/outcome.ts";
import type { FileDeps } from "./deps.ts";
import { opErrorOf } from "./faults.ts";

type StoredOp = files.StoredFileOp;
type Entry = BucketEntry<StoredOp>;

/** `onUploaded` is called when an upload is in the world and its staged parts are no longer needed. */
export type OpDeps = Pick<
  FileDeps,
  "kube" | "settings" | "now" | "background" | "transferMetrics" | "ops"
> & { onUploaded: (upload: string) => Promise<unknown> };

export function opKey({ server, id }: Pick<StoredOp, "server" | "id">): string {
  return `${server}/${id}`;
}

type NewOp = Pick<StoredOp, "op" | "path" | "server" | "started_by" | "upload" | "from">;

/** An operation that is about to start. */
export function newOp(deps: Pick<FileDeps, "now">, about: NewOp): StoredOp {
  const id = randomBytes(8).toString("hex");
  const now = deps.now();
  return {
    ...about,
    id,
    state: "running",
    started_at: new Date(now).toISOString(),
    done: 0,
    total: 0,
    job: `files-${about.server}-${id}`,
    preparing_at: now,
  };
}

/** The only mapping from a stored operation to the public view. */
export function toFileOp(op: StoredOp): files.FileOp {
  const { server: _server, job: _job, preparing_at: _at, upload: _upload, started_by: _by, ...view } = op;
  return view;
}

/** The operation ended with an outcome. Pure. */
export function applyOutcome(op: StoredOp, outcome: Outcome, at: Date): StoredOp {
  const ended = { ...op, preparing_at: 0, finished_at: at.toISOString() };
  if (outcome.kind !== "done") return { ...ended, state: "failed", error: opErrorOf(outcome) };
  const { files, bytes, size_bytes, left_out, left_out_count = 0 } = outcome.done;
  const all = bytes ?? size_bytes ?? op.total;
  return {
    ...ended,
    state: "succeeded",
    done: all,
    total: all,
    ...(op.op === "unzip" && { files: files ?? 0, bytes: bytes ?? 0 }),
    ...(left_out_count > 0 && { left_out: left_out ?? [], left_out_count }),
  };
}

type EndDeps = Pick<FileDeps, "settings" | "now" | "transferMetrics" | "ops">;

/** Records an end, once. Returns the operation as stored. */
export function endOp(deps: EndDeps, entry: Entry, outcome: Outcome): Promise<StoredOp> {
  return write(deps, entry, applyOutcome(entry.value, outcome, new Date(deps.now())));
}

/** As `endOp`, for one that failed before it had a Job. */
export function failOp(deps: EndDeps, entry: Entry, error: files.FileOpError): Promise<StoredOp> {
  const finished_at = new Date(deps.now()).toISOString();
  return write(deps, entry, { ...entry.value, preparing_at: 0, finished_at, state: "failed", error });
}

async function write(deps: EndDeps, entry: Entry, ended: StoredOp): Promise<StoredOp> {
  const { file_op_kept: ttlMs } = deps.settings.storage;
  const done = await deps.ops.update(entry.key, ended, entry.revision, { ttlMs });
  if (done === undefined) return (await deps.ops.get(entry.key))?.value ?? ended;
  const result = ended.state === "succeeded" ? "done" : (ended.error?.code ?? "failed");
  const { started_at, finished_at = started_at } = ended;
  const seconds = (Date.parse(finished_at) - Date.parse(started_at)) / 1_000;
  deps.transferMetrics.fileJob(ended.op, result, seconds);
  return ended;
}

/** What one running operation depends on. */
type Observed = { readonly op: StoredOp; readonly job: JobState };

export type Plan =
  | { readonly action: "wait" }
  /** `releaseUpload`: the upload whose staged bytes are no longer needed. */
  | { readonly action: "end"; readonly outcome: Outcome; readonly releaseUpload?: string };

/** `patienceMs`: how long an operation may be written down without its Job. Pure. */
export function decideOp({ op, job }: Observed, now: number, patienceMs: number): Plan {
  if (op.state !== "running" || job === "running") return { action: "wait" };
  const end = (outcome: Outcome): Plan => {
    // What was uploaded can be committed again; what was fetched, nobody can go on with.
    const isOver = outcome.kind === "done" || op.from !== undefined;
    const releaseUpload = isOver ? op.upload : undefined;
    return { action: "end", outcome, ...(releaseUpload !== undefined && { releaseUpload }) };
  };
  if (job !== "none") return end(job);
  if (op.preparing_at > 0 && now - op.preparing_at < patienceMs) return { action: "wait" };
  const message =
    op.preparing_at > 0
      ? "the service was interrupted before the job started; try again"
      : "the job no longer exists";
  return end({ kind: "broken", message });
}

/** One pass over one operation; returns it as it is then. */
async function reconcileOp(deps: OpDeps, entry: Entry): Promise<StoredOp> {
  const { value: op } = entry;
  if (op.state !== "running") return op;
  const observed = { op, job: await observeJob(logDepsOf(deps), op.job) };
  const plan = decideOp(observed, deps.now(), deps.settings.storage.file_op_patience);
  if (plan.action === "wait") return op;
  // The Job reports this itself, but its report may get lost.
  if (plan.releaseUpload !== undefined) await deps.onUploaded(plan.releaseUpload);
  return endOp(deps, entry, plan.outcome);
}

/** Operations of a server, newest first; with `since` only those started then or later. */
export async function listOps(deps: OpDeps, server: string, since?: string): Promise<files.FileOp[]> {
  const keys = (await deps.ops.keys()).filter((key) => key.startsWith(`${server}/`));
  const entries = await Promise.all(keys.map((key) => deps.ops.get(key)));
  const from = Date.parse(since ?? "1970-01-01");
  const found = entries.filter((entry) => entry !== undefined);
  const theirs = found.filter(({ value }) => Date.parse(value.started_at) >= from);
  const newest = theirs.sort((one, other) => (one.value.started_at < other.value.started_at ? 1 : -1));
  const shown = newest.slice(0, deps.settings.storage.file_ops_shown);
  return Promise.all(shown.map(async (entry) => toFileOp(await withProgress(deps, entry))));
}

async function withProgress(deps: OpDeps, entry: Entry): Promise<StoredOp> {
  const op = await reconcileOp(deps, entry);
  if (op.state !== "running" || op.preparing_at > 0) return op;
  // Progress is optional: a log that cannot be read must not fail the list.
  const progress = await readProgress(logDepsOf(deps), op.job).catch(() => undefined);
  return progress ? { ...op, ...progress } : op;
}

/** Records the ends of running operations periodically; every replica does. */
export function startOpReconcile(deps: OpDeps): { close: () => Promise<void> } {
  const running = new Map<string, Entry>();
  const watching = deps.ops.watch({
    onEntry: (entry) => {
      if (entry.value.state === "running") running.set(entry.key, entry);
      else running.delete(entry.key);
    },
    onGone: (key) => void running.delete(key),
  });
  deps.background.every("reconcile file operations", deps.settings.storage.file_op_settle, async () => {
    for (const entry of [...running.values()]) await reconcileOp(deps, entry);
  });
  return watching;
}
