// Makes an ordinary bundle of the state at a point in time (docs/reference/database-backups.md#point-in-time). The living
// database is not touched.

import { randomBytes } from "node:crypto";
import { chmod, link, mkdir, readFile, readlink, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { syncPath } from "../bundle/durable.ts";
import type { ServerObjects } from "../bundle/server-objects.ts";
import { sidecarOf } from "../bundle/verify.ts";
import { type Bundle, writeBundle } from "../bundle/write.ts";
import { type Choice, chooseRecovery, coverageText } from "./choose.ts";
import { type Base, namesIn, readArchive } from "./folder.ts";
import { parseLsn } from "./lsn.ts";
import { DamagedBaseError } from "./read-base.ts";
import { checkReplayed, gatherLog, makeFolder, unpackBase } from "./scratch.ts";
import { type Recovered, type ServerProgram, startRecovered, writeSettings } from "./server.ts";
import { checkVersion } from "./server-version.ts";

type RecoverDeps = {
  walDir: string;
  bundleDir: string;
  /** Where the scratch folder is made; it needs the size of the database and its log. */
  scratchDir: string | undefined;
  program: ServerProgram;
  version: string;
  readServers: () => Promise<ServerObjects>;
  step: (name: string) => void;
};

type RecoveredBundle = Bundle & {
  base: string;
  /** Base backups that could not be used, newest first. */
  skipped: string[];
};

export async function recoverBundle(deps: RecoverDeps, at: Date): Promise<RecoveredBundle> {
  const { walDir, program } = deps;
  const { runs, problems } = await readArchive(walDir);
  const choice = chooseRecovery(runs, at);
  if (!choice) {
    const beside = problems.length > 0 ? `; ${problems.join("; ")}` : "";
    throw new Error(`${at.toISOString()} cannot be recovered from ${walDir}: ${coverageText(runs)}${beside}`);
  }
  await checkVersion(program, choice.bases);
  const parent = deps.scratchDir ?? (program.uid === undefined ? walDir : tmpdir());
  for (const one of new Set([parent, tmpdir()])) await sweepScratch(one);
  const dir = join(parent, `.recover-${process.pid}-${randomBytes(4).toString("hex")}`);
  // The path of a socket may have no more than 107 bytes.
  const socket = join(tmpdir(), `svc-recover-${process.pid}-${randomBytes(4).toString("hex")}`);
  try {
    for (const path of [dir, socket]) await makeFolder(path, program);
    return await recoverInto(deps, { choice, at, dir, socket });
  } finally {
    for (const path of [dir, socket]) await rm(path, { recursive: true, force: true });
  }
}

type Recovery = { choice: Choice; at: Date; dir: string; socket: string };

async function recoverInto(deps: RecoverDeps, recovery: Recovery): Promise<RecoveredBundle> {
  const { program, step } = deps;
  const { choice, dir } = recovery;
  const skipped: string[] = [];
  for (const base of choice.bases) {
    const data = join(dir, "data");
    step("unpack");
    try {
      await unpackBase(base, data, program);
    } catch (error) {
      if (!(error instanceof DamagedBaseError)) throw error;
      skipped.push(`${base.path}: ${error.message}`);
      await rm(data, { recursive: true, force: true });
      continue;
    }
    return { ...(await applyLog(deps, recovery, base)), base: base.name, skipped };
  }
  throw new Error(`no base backup can be used: ${skipped.join("; ")}`);
}

async function applyLog(deps: RecoverDeps, recovery: Recovery, base: Base): Promise<Bundle> {
  const { program, step } = deps;
  const { choice, at, dir, socket } = recovery;
  const scratch = { dir, socket, data: join(dir, "data"), wal: join(dir, "wal") };
  step("gather");
  await gatherLog(choice.run, { base, until: choice.until, dir: scratch.wal, owner: program });
  const names = { database: base.about.database, user: base.about.superuser };
  step("apply");
  await writeSettings(scratch, { to: at, owner: program });
  let server = await startRecovered(program, scratch, names);
  if (!server) {
    // Nothing was committed after the time, so the end of the log is its state.
    await writeSettings(scratch, { to: undefined, owner: program });
    server = await startRecovered(program, scratch, names);
    if (!server) throw new Error("the log could not be applied");
    try {
      const { timeline } = choice.run.about;
      await checkReplayed(scratch.wal, {
        timeline,
        replayed: parseLsn(server.replayed),
        until: choice.until,
      });
    } catch (error) {
      await server.stop();
      throw error;
    }
  }
  try {
    step("bundle");
    return await bundleOf(deps, server, at);
  } finally {
    await server.stop();
  }
}

/** Written beside the bundles and then given its name among them: another process may take one meanwhile. */
async function bundleOf(deps: RecoverDeps, server: Recovered, at: Date): Promise<Bundle> {
  const { bundleDir, version, step } = deps;
  await mkdir(bundleDir, { recursive: true, mode: 0o700 });
  await chmod(bundleDir, 0o700);
  for (const name of await namesIn(bundleDir))
    if (/^\.recovered-\d+-[0-9a-f]+$/.test(name) && !isAlive(Number(name.split("-")[1])))
      await rm(join(bundleDir, name), { recursive: true, force: true });
  const dir = join(bundleDir, `.recovered-${process.pid}-${randomBytes(4).toString("hex")}`);
  try {
    const servers = await deps.readServers();
    const about = { label: "manual" as const, version, servers, recoveredTo: at };
    const bundle = await writeBundle({ url: server.url, dir, among: bundleDir, ...about, step });
    const path = join(bundleDir, bundle.name);
    await link(sidecarOf(bundle.path), sidecarOf(path));
    step("recovered-name");
    await link(bundle.path, path);
    await syncPath(bundleDir);
    return { ...bundle, path };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** What killed recoveries left: their folders and sockets, and a server that still works in one. */
async function sweepScratch(parent: string): Promise<void> {
  for (const name of await namesIn(parent)) {
    const pid = Number(/^(?:\.|svc-)recover-(\d+)-[0-9a-f]{8}$/.exec(name)?.[1] ?? Number.NaN);
    if (!Number.isInteger(pid) || isAlive(pid)) continue;
    await endServer(join(parent, name, "data"));
    // That of another account stays.
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

async function endServer(data: string): Promise<void> {
  const pid = Number((await readFile(join(data, "postmaster.pid"), "utf8").catch(() => "")).split("\n")[0]);
  const isServer = async () => {
    const [cwd, own] = await Promise.all([readlink(`/proc/${pid}/cwd`), realpath(data)]).catch(() => [
      "",
      "-",
    ]);
    return cwd === own;
  };
  for (let left = 50; pid > 0 && left > 0 && (await isServer()); left -= 1) {
    if (left === 50) process.kill(pid, "SIGQUIT");
    await delay(100);
  }
}
