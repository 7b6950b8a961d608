import { fileURLToPath } from "node:url";
import { ConfigError, loadSettings } from "@svc/config";
import { connectMesh, type Mesh } from "@svc/mesh";
import { type Owner, owners, type ServiceName } from "@svc/proto";
import type { Store } from "@svc/store";
import {
  createLogger,
  createRegistry,
  type Logger,
  type Registry,
  startHealthServer,
  type Tracing,
} from "@svc/telemetry";
import type { z } from "zod";
import { readEnvironment, type ServiceEnvironment, serviceHelp } from "./config.ts";
import { nextStopSignal } from "./stop-signal.ts";
import { traceService } from "./trace-service.ts";

/** What a service starts with: everything is connected and checked. */
export type Runtime<S, T> = {
  settings: S;
  environment: ServiceEnvironment;
  log: Logger;
  registry: Registry;
  tracing: Tracing;
  mesh: Mesh;
  /** The database of the service; throws for a gateway, which has none. */
  store: Store<T>;
  /** Aborts when the process is asked to end. */
  signal: AbortSignal;
};

export type Running = {
  /** Undefined when ready, else what is missing. Checked in addition to the mesh and the database. */
  notReady?: () => Promise<string | undefined>;
  /** Undefined while it works, else why the process must be restarted; `/healthz` then answers 503. */
  stuck?: () => string | undefined;
  /** Ends loops and listeners; called before the mesh drains. */
  stop?: () => Promise<void>;
};

type ServiceDefinition<S extends z.ZodObject, T> = {
  name: ServiceName;
  settings: S;
  /** Folder of SQL migrations; absent for gateways and for an owner that only has an outbox. */
  migrations?: URL;
  /** Connections to PostgreSQL of this process (docs/reference/data.md#database: at most 25, all services at most 80). */
  poolSize?: number;
  start: (runtime: Runtime<z.output<S>, T>) => Promise<Running>;
};

const drainMs = 20_000;

/**
 * Runs one service until SIGTERM or SIGINT: reads its settings, checks the database, connects the mesh, starts it and
 * logs `ready`. A failed start ends with one sentence on stderr and exit code 1.
 */
export async function runService<S extends z.ZodObject, T>(
  definition: ServiceDefinition<S, T>,
): Promise<void> {
  try {
    const environment = readEnvironment(definition.name);
    if (environment.help) return void process.stdout.write(serviceHelp(definition.name));
    if (environment.version) return void process.stdout.write(`${environment.buildVersion}\n`);
    await runUntilSignal(definition, environment);
  } catch (error) {
    process.stderr.write(`${definition.name}: ${sentence(error)}\n`);
    process.exit(1);
  }
}

async function runUntilSignal<S extends z.ZodObject, T>(
  definition: ServiceDefinition<S, T>,
  environment: ServiceEnvironment,
): Promise<void> {
  const stopping = new AbortController();
  const ended = nextStopSignal();
  void ended.then(() => stopping.abort());
  const settings = loadSettings(definition.settings, environment);
  const log = createLogger(definition.name, environment.logLevel);
  const registry = createRegistry(definition.name, environment.buildVersion);
  const tracing = await traceService(definition.name, environment, log);
  const database = await openDatabase<T>(definition, environment, { log, registry, tracing });
  const store = database?.store;
  const mesh = await connectMesh({
    service: definition.name,
    url: environment.natsUrl,
    user: environment.natsUser,
    password: environment.natsPassword,
    log,
    version: environment.buildVersion,
    byteTransferHost: environment.byteTransferHost,
    registry,
    tracing,
    signal: stopping.signal,
  });
  const relay = database?.startRelay(mesh.publish);
  const repeats = definition.migrations && database?.createRepeats();
  if (repeats) mesh.answerRepeats(repeats);
  const running = await definition.start({
    settings,
    environment,
    log,
    registry,
    tracing,
    mesh,
    signal: stopping.signal,
    get store() {
      if (!store) throw new Error(`${definition.name} has no database`);
      return store;
    },
  });
  await mesh.announce();
  const health = await startHealthServer({
    host: environment.healthHost,
    port: environment.healthPort,
    registry,
    isReady: () => whatIsMissing(mesh, store, running),
    isStuck: () => running.stuck?.(),
  });
  log.info({ health_port: health.port }, "ready");
  const signal = await ended;
  log.info({ signal }, "stopping");
  await running.stop?.();
  await relay?.close();
  await mesh.drain(drainMs);
  await repeats?.close();
  await store?.close();
  await health.close();
  await tracing.close();
  // Do not wait for whatever still keeps the process alive, such as a hung peer.
  process.exit(0);
}

async function openDatabase<T>(
  definition: { name: ServiceName; migrations?: URL; poolSize?: number },
  environment: ServiceEnvironment,
  { log, registry, tracing }: { log: Logger; registry: Registry; tracing: Tracing },
) {
  if (!isOwner(definition.name)) return undefined;
  // Not at the top: a gateway would hold 10 MB of code that it has no database for.
  const { checkMigrations, createRepeats, measureStore, openStore, readMigrations, startOutboxRelay } =
    await import("@svc/store");
  const schema = schemaOf(definition.name);
  const url = environment.databaseUrl;
  if (url === "") {
    throw new ConfigError(`SVC_DATABASE_URL is not set; ${definition.name} --help lists the environment`);
  }
  await checkMigrations(
    url,
    schema,
    readMigrations(definition.migrations && fileURLToPath(definition.migrations)),
  );
  const poolSize = environment.poolSize ?? definition.poolSize ?? 10;
  const store = openStore<T>({ url, schema, poolSize, log, tracing });
  const { onBacklog } = measureStore(registry, store);
  return {
    store,
    startRelay: (publish: Mesh["publish"]) => startOutboxRelay({ url, schema, publish, log, onBacklog }),
    createRepeats: () => createRepeats(store, log),
  };
}

function isOwner(name: ServiceName): name is Owner {
  return (owners as readonly string[]).includes(name);
}

/** Database schema of a service: `ops-watchdog` keeps its tables in `ops_watchdog`. */
function schemaOf(owner: Owner): string {
  return owner.replaceAll("-", "_");
}

async function whatIsMissing<T>(
  mesh: Mesh,
  store: Store<T> | undefined,
  running: Running,
): Promise<string | undefined> {
  if (!mesh.status().connected) return "NATS is not connected";
  const isDatabaseUp = await store?.ping().then(
    () => true,
    () => false,
  );
  if (isDatabaseUp === false) return "the database does not answer";
  return running.notReady?.();
}

function sentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? String(error.code) : "";
  if (code === "ECONNREFUSED") return `the database does not answer (${error.message}); is it running?`;
  // PostgreSQL answers an unknown user in the same way.
  if (code === "28P01")
    return "the database refuses this user or password; check SVC_DATABASE_URL, and run `svc migrate up`, which makes the user";
  if (code === "ENOSPC") return "the disk is full; free some space and start again";
  if (code === "EADDRINUSE") return `${error.message}; another process has this port`;
  return error.message.split("\n")[0] ?? error.name;
}
