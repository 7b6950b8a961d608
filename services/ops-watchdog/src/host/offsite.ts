// Commands of the host on off-site copies (docs/reference/off-site.md#commands).

import { hostname } from "node:os";
import { connectMesh, type Mesh } from "@svc/mesh";
import { openStore } from "@svc/store";
import { createLogger } from "@svc/telemetry";
import type pg from "pg";
import { connect } from "../bundle/snapshot.ts";
import { BusyError, takeBundle } from "../bundle/take.ts";
import type { Tables } from "../database.ts";
import { openBucket, readKeys } from "../offsite/access.ts";
import { type ArchiveStore, createArchiveStore } from "../offsite/archive-store.ts";
import { type BuildsStore, createBuildsStore } from "../offsite/builds-store.ts";
import { checkKeys, WrongKeyError } from "../offsite/check-keys.ts";
import { findWriter, takeOver } from "../offsite/claim.ts";
import { fetchDb } from "../offsite/fetch-db.ts";
import { fetchImages, fetchUploads } from "../offsite/fetch-indexed.ts";
import { fetchWal } from "../offsite/fetch-wal.ts";
import { fetchWorlds } from "../offsite/fetch-worlds.ts";
import { readHostId } from "../offsite/host-id.ts";
import { countWorlds } from "../offsite/object-key.ts";
import { type PassResult, runPass } from "../offsite/pass.ts";
import { beginPass } from "../offsite/report.ts";
import { readOffsiteStatus } from "../offsite/status.ts";
import { readVerification, writeVerification } from "../offsite/verification.ts";
import { stillDamaged, verifyCopies } from "../offsite/verify-copies.ts";
import { runWalPass } from "../offsite/wal-pass.ts";
import { type HostContext, needDatabase, readServers } from "./context.ts";
import type { OffsiteCommand } from "./offsite-command.ts";

export async function runOffsiteCommand(context: HostContext, command: OffsiteCommand): Promise<unknown> {
  switch (command.do) {
    case "offsite-sync":
      return sync(context);
    case "offsite-sync-wal":
      return syncWal(context);
    case "offsite-status":
      return status(context);
    case "offsite-list":
      return list(context);
    case "offsite-verify":
      return verify(context, command.sample);
    case "offsite-take-over":
      return runTakeOver(context, command.apply);
    case "offsite-fetch-db":
      return runFetchDb(context, command);
    case "offsite-fetch-wal":
      return runFetchWal(context, command.at);
    case "offsite-fetch-worlds":
      return withOwners(context, async (owners, signal) =>
        fetchWorlds({
          ...(await openOffsite(context)),
          ...owners,
          stateDir: context.settings.offsite.state_dir,
          step: context.step,
          signal,
        }),
      );
    case "offsite-fetch-images":
    case "offsite-fetch-uploads":
      return withOwners(context, async (owners, signal) => {
        const deps = { ...(await openOffsite(context)), ...owners, step: context.step, signal };
        const fetch = command.do === "offsite-fetch-images" ? fetchImages : fetchUploads;
        return fetch(deps, command.at);
      });
  }
}

async function openOffsite({ settings, env, timing }: HostContext) {
  const bucket = openBucket(settings.offsite, env, timing ? { timing } : {});
  return { bucket, ring: await readKeys(settings.offsite, env) };
}

async function hostOf({ settings }: HostContext): Promise<{ id: string; name: string }> {
  return { id: await readHostId(settings.offsite.state_dir), name: hostname() };
}

const never = new AbortController().signal;

async function sync(context: HostContext): Promise<PassResult> {
  const { settings } = context;
  const url = needDatabase(context);
  const client = await connect(url, "svc-offsite-pass");
  // A pass that cannot be recorded, and whose lock somebody else may get, ends.
  const lost = new AbortController();
  client.once("end", () => lost.abort(new Error("the connection to the database was lost")));
  try {
    const { rows } = await client.query<{ held: boolean }>(
      "select pg_try_advisory_lock(hashtext('svc_offsite_pass')) as held",
    );
    if (!rows[0]?.held)
      throw new BusyError("another pass is running; `svc offsite status` shows how far it is");
    const record = await beginPass(client);
    let writing = Promise.resolve();
    const result = await withOwners(
      context,
      async (owners, signal) =>
        runPass({
          ...(await openOffsite(context)),
          ...owners,
          settings: settings.offsite,
          bundleDir: settings.ops_watchdog.bundle_dir,
          host: await hostOf(context),
          takeBundle: () => takeSnapshot(context),
          wal: {
            dir: walDirOf(context),
            keepMs: settings.ops_watchdog.wal_keep,
            exclusively: (work) => whileNobodySends(client, work),
          },
          now: Date.now,
          step: context.step,
          onProgress: (progress) => {
            if (context.env["SVC_PROGRESS"]) process.stderr.write(`progress ${JSON.stringify(progress)}\n`);
            writing = writing.then(() => record.progress(progress)).catch(() => undefined);
          },
          signal,
        }),
      lost.signal,
    ).catch((error: Error): PassResult => {
      const report = { sent: 0, sent_bytes: 0, deleted: 0, failed: 0, failures: [], error: error.message };
      return { state: "failed", report };
    });
    await writing;
    context.step("report");
    await record.finish(result.state, result.report);
    return result;
  } finally {
    client.removeAllListeners("end");
    await client.end();
  }
}

function takeSnapshot(context: HostContext) {
  const { settings, version } = context;
  return takeBundle(
    {
      url: needDatabase(context),
      settings: settings.ops_watchdog,
      version,
      readServers: () => readServers(context),
      path: context.env["PATH"],
      now: () => new Date(),
    },
    "offsite",
    { step: context.step },
  );
}

/** Who has the bytes that are copied. */
type Owners = { archives: ArchiveStore; builds: BuildsStore };

async function withOwners<T>(
  context: HostContext,
  work: (owners: Owners, signal: AbortSignal) => Promise<T>,
  signal: AbortSignal = never,
): Promise<T> {
  const mesh = await openMesh(context);
  try {
    const owners = {
      archives: createArchiveStore(mesh, signal),
      builds: createBuildsStore(mesh, signal),
    };
    return await work(owners, signal);
  } finally {
    await mesh.drain(500);
  }
}

const connectWithinMs = 15_000;

/** As ops-watchdog from its loop, as the operator from the command line. */
function openMesh({ env, natsUrl, natsPassword, version }: HostContext): Promise<Mesh> {
  const log = createLogger("svc-offsite", "silent");
  const options = { log, version, signal: AbortSignal.timeout(connectWithinMs) };
  const operator = env["SVC_OPERATOR_NATS_URL"];
  if (operator) {
    const url = new URL(operator);
    const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    url.username = "";
    url.password = "";
    return connectMesh({
      ...options,
      service: "operator",
      url: url.href,
      user: user || "operator",
      password,
    });
  }
  if (!natsUrl) throw new Error("SVC_NATS_URL is not set: storage is asked for the archives");
  const user = env["SVC_NATS_USER"] || "ops-watchdog";
  return connectMesh({ ...options, service: "ops-watchdog", url: natsUrl, user, password: natsPassword });
}

async function status(context: HostContext) {
  const url = needDatabase(context);
  const log = createLogger("svc-offsite", "silent");
  const store = openStore<Tables>({ url, schema: "ops_watchdog", poolSize: 1, log });
  try {
    const { offsite, ops_watchdog } = context.settings;
    const about = { settings: offsite, walArchive: ops_watchdog.wal_archive, now: Date.now };
    return await readOffsiteStatus({ db: store.db, ...about });
  } finally {
    await store.close();
  }
}

async function list(context: HostContext) {
  const { bucket } = await openOffsite(context);
  const objects = [];
  for await (const { key, sizeBytes, modifiedAt } of bucket.list(""))
    objects.push({ key, size_bytes: sizeBytes, ...(modifiedAt && { at: modifiedAt.toISOString() }) });
  const worlds = countWorlds(objects.map(({ key }) => key));
  return { bucket: context.settings.offsite.bucket, objects, worlds };
}

/** `wrong_key` says why nothing was opened: what no key of this host opens would look damaged, and be replaced. */
function verify(context: HostContext, sample: number | undefined) {
  const { settings } = context;
  const { state_dir: stateDir } = settings.offsite;
  return withOwners(context, async (owners, signal) => {
    const offsite = await openOffsite(context);
    const mayRepair = await mayReplace(context, { ...offsite, signal }).catch((error: unknown) => {
      if (error instanceof WrongKeyError) return error;
      throw error;
    });
    if (mayRepair instanceof WrongKeyError)
      return { checked: [], damaged: [], unread: [], worlds: countWorlds([]), wrong_key: mayRepair.message };
    const dirs = { bundleDir: settings.ops_watchdog.bundle_dir, walDir: walDirOf(context), stateDir };
    const { damaged = [] } = (await readVerification(stateDir)) ?? {};
    const result = await verifyCopies(
      { ...offsite, ...owners, ...dirs, mayRepair, step: context.step, signal },
      { sample, damaged },
    );
    await writeVerification(stateDir, {
      at: new Date().toISOString(),
      damaged: stillDamaged(result, damaged),
    });
    return { ...result, worlds: countWorlds(result.checked) };
  });
}

type Opened = Awaited<ReturnType<typeof openOffsite>> & { signal: AbortSignal };

/** Only the writer, and only under a key that the bucket names, so that the recovery sheet opens what it sends. */
async function mayReplace(context: HostContext, offsite: Opened): Promise<boolean> {
  const keys = await checkKeys(offsite);
  const found = await findWriter(offsite);
  const isWriter = found.kind === "named" && found.writer.host_id === (await hostOf(context)).id;
  return isWriter && keys.recorded().includes(offsite.ring.active.id);
}

const walDirOf = ({ settings }: HostContext) =>
  settings.ops_watchdog.wal_archive ? settings.ops_watchdog.wal_dir : undefined;

/** The log alone, between two passes. Nothing is done while another process sends it. */
async function syncWal(context: HostContext): Promise<PassResult> {
  const { settings, step } = context;
  const walDir = walDirOf(context);
  if (walDir === undefined) throw new Error("a point in time is off: ops_watchdog.wal_archive is false");
  const client = await connect(needDatabase(context), "svc-offsite-wal");
  const lost = new AbortController();
  client.once("end", () => lost.abort(new Error("the connection to the database was lost")));
  try {
    const offsite = { ...(await openOffsite(context)), host: await hostOf(context) };
    const dirs = { walDir, stateDir: settings.offsite.state_dir };
    const result = await whileNobodySends(client, () =>
      runWalPass({ ...offsite, ...dirs, now: Date.now, step, signal: lost.signal }),
    );
    const report = { sent: 0, sent_bytes: 0, deleted: 0, failed: 0, failures: [] };
    return result ?? { state: "completed", report };
  } finally {
    client.removeAllListeners("end");
    await client.end();
  }
}

/** Undefined while another process sends the log. */
async function whileNobodySends<T>(client: pg.Client, work: () => Promise<T>): Promise<T | undefined> {
  const { rows } = await client.query<{ held: boolean }>(
    "select pg_try_advisory_lock(hashtext('svc_offsite_wal')) as held",
  );
  if (!rows[0]?.held) return undefined;
  try {
    return await work();
  } finally {
    await client.query("select pg_advisory_unlock(hashtext('svc_offsite_wal'))");
  }
}

/** The plan, and whether it was carried out. */
async function runTakeOver(context: HostContext, apply: boolean) {
  const { settings } = context;
  const { bucket } = await openOffsite(context);
  const host = await hostOf(context);
  const signal = never;
  const found = await findWriter({ bucket, signal });
  const before = found.kind === "named" ? found.writer : undefined;
  const plan = { host, ...(before && { writer: before }), is_writer: before?.host_id === host.id };
  if (!apply || plan.is_writer) return { ...plan, done: false };
  const { conditionalPut } = await bucket.probe({ signal });
  context.step("take-over");
  const settleMs = settings.offsite.writer_settle;
  await takeOver({ bucket, host, conditionalPut, settleMs, now: Date.now, signal });
  context.step("taken-over");
  return { ...plan, done: true };
}

async function runFetchDb(context: HostContext, { bundle, force }: { bundle: string; force: boolean }) {
  const bundleDir = context.settings.ops_watchdog.bundle_dir;
  const deps = { ...(await openOffsite(context)), bundleDir, step: context.step, signal: never };
  return fetchDb(deps, { name: bundle, force });
}

async function runFetchWal(context: HostContext, at: Date | undefined) {
  const walDir = context.settings.ops_watchdog.wal_dir;
  return fetchWal({ ...(await openOffsite(context)), walDir, step: context.step, signal: never }, at);
}
