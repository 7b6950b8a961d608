import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { findText } from "../atomic-file.ts";
import { StackError } from "../error.ts";
import { endProcess, findProcess, type ProcessRef } from "../process/identity.ts";
import { runCommand } from "../process/run.ts";
import { type Account, commandAs } from "./account.ts";

const majorVersion = "18";

/** The environment of the server: a fixed locale and time zone whatever the person's own are. */
export function serverEnv(): NodeJS.ProcessEnv {
  return { PATH: "/usr/bin:/bin", LC_ALL: "C.UTF-8", TZ: "UTC" };
}

/** Refuses a data folder that another major version wrote; a folder without a cluster is fine. */
function checkVersion(dataDir: string): boolean {
  const found = findText(join(dataDir, "PG_VERSION"))?.trim();
  if (found === undefined) return false;
  if (found === majorVersion) return true;
  throw new StackError(
    `${dataDir} was made by PostgreSQL ${found} and this is PostgreSQL ${majorVersion}; ` +
      "dump it with the old version and load it into a new folder, or choose another folder with --data",
  );
}

/**
 * Creates the cluster unless it is there. It is made in a folder beside `dataDir` and renamed once whole, so an
 * interrupted run leaves nothing half-made.
 */
export async function ensureCluster(
  account: Account,
  options: { dataDir: string; password: string; onCreate?: () => void },
): Promise<void> {
  const { dataDir } = options;
  if (checkVersion(dataDir)) return;
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0) {
    throw new StackError(`${dataDir} holds files but no database; choose another folder with --data`);
  }
  options.onCreate?.();
  const fresh = `${dataDir}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true, mode: 0o700 });
  await initdb(account, { dataDir: fresh, password: options.password });
  rmSync(dataDir, { recursive: true, force: true });
  renameSync(fresh, dataDir);
}

async function initdb(account: Account, options: { dataDir: string; password: string }): Promise<void> {
  const { dataDir } = options;
  const passwordFile = `${dataDir}.password`;
  writeFileSync(passwordFile, `${options.password}\n`, { mode: 0o600 });
  if (account.uid !== undefined && account.gid !== undefined) {
    for (const path of [dataDir, passwordFile]) chownSync(path, account.uid, account.gid);
  }
  try {
    const args = ["-D", dataDir, "-U", "postgres", "-A", "scram-sha-256", `--pwfile=${passwordFile}`];
    const plan = commandAs(account, "initdb", [
      ...args,
      "-E",
      "UTF8",
      "--locale=C.UTF-8",
      "--no-instructions",
    ]);
    const run = await runCommand(plan.command, plan.args, { ...plan, env: serverEnv(), cwd: "/" });
    if (run.code !== 0)
      throw new StackError(`the database could not be created in ${dataDir}:\n${run.output}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** Pid and state of the server as its lock file tells; the file outlives a server that was killed. */
export function readPostmasterPid(dataDir: string): { pid: number; state: string } | undefined {
  const lines = findText(join(dataDir, "postmaster.pid"))?.split("\n");
  const pid = Number(lines?.[0]);
  return lines && Number.isInteger(pid) && pid > 0 ? { pid, state: (lines[7] ?? "").trim() } : undefined;
}

/** The living server of this data folder, distinguished from an unrelated process that got the same pid later. */
function findPostmaster(dataDir: string): ProcessRef | undefined {
  const pid = readPostmasterPid(dataDir)?.pid;
  const ref = pid === undefined ? undefined : findProcess(pid);
  if (!ref) return undefined;
  try {
    return readlinkSync(`/proc/${ref.pid}/cwd`) === realpathSync(dataDir) ? ref : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Makes the folder free for a new server: ends one that an earlier run left behind, and removes a lock file whose
 * pid is unused or belongs to an unrelated process (the server itself would refuse in the second case).
 */
export async function clearPostmaster(dataDir: string): Promise<void> {
  const old = findPostmaster(dataDir);
  if (old) {
    const ended = await endProcess(old, [
      { signal: "SIGINT", waitMs: 10_000 },
      { signal: "SIGQUIT", waitMs: 5_000 },
    ]);
    if (!ended)
      throw new StackError(`an old PostgreSQL (pid ${old.pid}) still uses ${dataDir}; end it and try again`);
  }
  rmSync(join(dataDir, "postmaster.pid"), { force: true });
}
