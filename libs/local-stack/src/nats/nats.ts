import { mkdirSync } from "node:fs";
import { connect } from "node:net";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { writeFileAtomic } from "../atomic-file.ts";
import { explainDiskFault } from "../error.ts";
import { findFreePort } from "../ports/free-port.ts";
import type { RunningServer } from "../postgres/postgres.ts";
import { endProcess, signalProcess } from "../process/identity.ts";
import { launchReady } from "../process/launch.ts";
import type { ProcessPlan } from "../process/plan.ts";

type NatsOptions = {
  /** Path of the server, see `findNatsServer`. */
  binary: string;
  /** Absolute path of a folder for the JetStream store and the configuration; made when missing. */
  dataDir: string;
  port: number;
  /** Text put behind our own settings: users and their permissions, for one. */
  extraConfig?: string;
  /** The server is one of several. */
  cluster?: NatsPeers;
};

/** Servers of one cluster know each other by these ports and this password. */
type NatsPeers = { name: string; routePort: number; routePorts: readonly number[]; password: string };

/** Our settings: loopback, JetStream in files, the payload limit that NATS ships with (docs/reference/mesh.md#subjects). */
function configText(options: NatsOptions): string {
  const store = JSON.stringify(join(options.dataDir, "jetstream"));
  return [
    `listen: "127.0.0.1:${options.port}"`,
    `server_name: ${JSON.stringify(options.cluster?.name ?? "svc-local")}`,
    "max_payload: 1MB",
    `jetstream { store_dir: ${store}, max_memory_store: 64MB, max_file_store: 10GB }`,
    ...(options.cluster ? [clusterText(options.cluster)] : []),
    options.extraConfig ?? "",
    "",
  ].join("\n");
}

const routeUser = "cluster";

function clusterText({ routePort, routePorts, password }: NatsPeers): string {
  const routes = routePorts.map((port) =>
    JSON.stringify(`nats://${routeUser}:${password}@127.0.0.1:${port}`),
  );
  return [
    "cluster {",
    '  name: "svc-local"',
    `  listen: "127.0.0.1:${routePort}"`,
    `  authorization { user: "${routeUser}", password: ${JSON.stringify(password)} }`,
    `  routes: [ ${routes.join(", ")} ]`,
    "}",
  ].join("\n");
}

/** Whether a NATS server greets on this port: its first line is `INFO {…}`. */
function probeNats(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    const end = (isServing: boolean) => {
      socket.destroy();
      resolve(isServing);
    };
    socket.setTimeout(1_000, () => end(false));
    socket.once("error", () => end(false));
    socket.once("data", (bytes) => end(bytes.toString("utf8", 0, 5) === "INFO "));
  });
}

function configPath(dataDir: string): string {
  return join(dataDir, "nats.conf");
}

/** Writes the configuration (0600, it holds passwords) and says how to start the server with it. */
export function prepareNats(options: NatsOptions): ProcessPlan {
  const { dataDir } = options;
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileAtomic(configPath(dataDir), configText(options));
  } catch (error) {
    throw explainDiskFault(error, dataDir);
  }
  return {
    command: options.binary,
    args: ["-c", configPath(dataDir)],
    // It shares the machine with everything else here; threads that look for work would cost more than they bring.
    mark: { GOMAXPROCS: String(Math.max(1, Math.floor(availableParallelism() / 2))) },
    cwd: "/",
    ready: { probe: () => probeNats(options.port) },
  };
}

type RunningNats = RunningServer & {
  /** Puts another `extraConfig` in force without a restart (SIGHUP); a bad one leaves the old in force. */
  reload: (extraConfig: string) => void;
};

/** Starts a server of its own for a test or a tool; without a `port` a free one is taken. Its log is `<dataDir>/nats.log`. */
export async function startNats(
  options: Omit<NatsOptions, "port"> & { port?: number },
): Promise<RunningNats> {
  const port = options.port || (await findFreePort());
  const plan = prepareNats({ ...options, port });
  const logPath = join(options.dataDir, "nats.log");
  const { ref, exited } = await launchReady("nats-server", plan, { logPath, timeoutMs: 15_000 });
  return {
    url: `nats://127.0.0.1:${port}`,
    pid: ref.pid,
    port,
    reload: (extraConfig) => {
      writeFileAtomic(configPath(options.dataDir), configText({ ...options, port, extraConfig }));
      signalProcess(ref.pid, "SIGHUP");
    },
    stop: async () => {
      await endProcess(ref, [
        { signal: "SIGTERM", waitMs: 5_000 },
        { signal: "SIGKILL", waitMs: 2_000 },
      ]);
      await exited;
    },
  };
}
