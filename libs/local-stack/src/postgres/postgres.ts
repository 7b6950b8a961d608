import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { explainDiskFault } from "../error.ts";
import { findFreePort } from "../ports/free-port.ts";
import { endProcess } from "../process/identity.ts";
import { launchReady } from "../process/launch.ts";
import type { ProcessPlan } from "../process/plan.ts";
import { type AccountMode, chooseAccount, commandAs } from "./account.ts";
import { findPostgres } from "./binaries.ts";
import { clearPostmaster, ensureCluster, readPostmasterPid, serverEnv } from "./cluster.ts";

type PostgresOptions = {
  /** Absolute path; made on the first start. Its parent is made as well. */
  dataDir: string;
  port: number;
  /** Password of the superuser `postgres`; it is set when the cluster is made and not changed later. */
  password: string;
  /** Off is for tests only: a power cut then breaks the cluster. On unless said otherwise. */
  isDurable?: boolean;
  /** Called before the cluster is made (about a second). */
  onCreate?: () => void;
  /** Forces how root starts the server; found out when missing. */
  accountMode?: AccountMode;
};

export type RunningServer = {
  url: string;
  pid: number;
  port: number;
  /** Ends the server and waits for it; a second call is harmless. */
  stop: () => Promise<void>;
};

/** Superuser address of a server started with these settings; add nothing but the database name. */
export function postgresUrl(options: { port: number; password: string }, database = "postgres"): string {
  return `postgres://postgres:${encodeURIComponent(options.password)}@127.0.0.1:${options.port}/${database}`;
}

function settings(options: PostgresOptions): string[] {
  const values: Record<string, string> = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    port: String(options.port),
    shared_buffers: "32MB",
    max_connections: "100",
    wal_level: "replica",
    max_wal_senders: "4",
    min_wal_size: "32MB",
    // A receiver of the log that is started again finds what it missed.
    wal_keep_size: "64MB",
    max_wal_size: "256MB",
    io_method: "sync",
    timezone: "UTC",
    log_timezone: "UTC",
    ...(options.isDurable === false && { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
  };
  return Object.entries(values).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

/**
 * Makes the cluster if there is none and says how to start its server: loopback only, no Unix socket, passwords by
 * SCRAM. Throws a `StackError` in words when that is impossible.
 */
export async function preparePostgres(options: PostgresOptions): Promise<ProcessPlan> {
  const { native } = await findPostgres();
  const { dataDir } = options;
  try {
    mkdirSync(dirname(dataDir), { recursive: true });
    const account = await chooseAccount(native, dataDir, options.accountMode);
    await clearPostmaster(dataDir);
    await ensureCluster(account, options);
    return {
      ...commandAs(account, "postgres", ["-D", dataDir, ...settings(options)]),
      env: serverEnv(),
      cwd: "/",
      stopSignal: "SIGINT",
      beforeStart: () => clearPostmaster(dataDir),
      ready: {
        probe: async (pid) => {
          const lock = readPostmasterPid(dataDir);
          return lock?.pid === pid && lock.state === "ready";
        },
      },
    };
  } catch (error) {
    throw explainDiskFault(error, dataDir);
  }
}

/**
 * Starts a PostgreSQL of its own for a test or a tool; without a `port` a free one is taken. Its log is `<dataDir>.log`.
 * The database is `postgres`, the user its superuser.
 */
export async function startPostgres(
  options: Omit<PostgresOptions, "port"> & { port?: number },
): Promise<RunningServer> {
  const port = options.port || (await findFreePort());
  const plan = await preparePostgres({ ...options, port });
  const logPath = `${options.dataDir}.log`;
  const { ref, exited } = await launchReady("PostgreSQL", plan, { logPath, timeoutMs: 30_000 });
  return {
    url: postgresUrl({ port, password: options.password }),
    pid: ref.pid,
    port,
    stop: async () => {
      await endProcess(ref, [
        { signal: "SIGINT", waitMs: 10_000 },
        { signal: "SIGQUIT", waitMs: 3_000 },
        { signal: "SIGKILL", waitMs: 2_000 },
      ]);
      await exited;
    },
  };
}
