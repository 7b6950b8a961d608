import { ConfigError } from "@svc/config";
import { createLogger, createRegistry, type Logger, type Registry, startHealthServer } from "@svc/telemetry";
import { type EdgeEnvironment, readEdgeEnvironment } from "./config.ts";
import { nextStopSignal } from "./stop-signal.ts";

/** A process at the edge: it has neither a database nor a connection to the mesh, and its settings in the environment. */
type EdgeDefinition<C> = {
  readonly name: string;
  /** Reads the settings; throws `ConfigError` with the one to correct. */
  readonly loadConfig: (variables: EdgeEnvironment["variables"]) => C;
  readonly start: (runtime: EdgeRuntime<C>) => Promise<EdgeProcess>;
};

type EdgeRuntime<C> = { readonly config: C; readonly log: Logger; readonly registry: Registry };

type EdgeProcess = {
  /** Fields of the log line `ready`, where others learn of the ports. */
  readonly ready: Readonly<Record<string, number>>;
  /** With it the process answers probes at `SVC_HEALTH_HOST` and `SVC_HEALTH_PORT`; undefined: ready. */
  readonly notReady?: () => string | undefined;
  readonly stop: () => Promise<void>;
};

/** Runs one process until SIGTERM or SIGINT. A start that fails ends with one sentence on stderr and exit code 1. */
export async function runEdge<C>(definition: EdgeDefinition<C>): Promise<void> {
  try {
    await runUntilSignal(definition);
  } catch (error) {
    const isExpected = error instanceof ConfigError || (error instanceof Error && "syscall" in error);
    const words = isExpected ? (error as Error).message : String((error as Error)?.stack ?? error);
    process.stderr.write(`${definition.name}: ${words}\n`);
    process.exit(1);
  }
}

async function runUntilSignal<C>({ name, loadConfig, start }: EdgeDefinition<C>): Promise<void> {
  const { variables, healthHost, healthPort, logLevel, buildVersion } = readEdgeEnvironment();
  const signaled = nextStopSignal();
  const config = loadConfig(variables);
  const log = createLogger(name, logLevel);
  const registry = createRegistry(name, buildVersion);
  const { ready, notReady, stop } = await start({ config, log, registry });
  const health =
    notReady &&
    (await startHealthServer({
      ...{ host: healthHost, port: healthPort, registry },
      isReady: async () => notReady(),
    }));
  log.info({ ...ready, ...(health && { health_port: health.port }) }, "ready");
  const signal = await signaled;
  log.info({ signal }, "stopping");
  await stop();
  await health?.close();
  // Whatever still holds the process now (a hung peer) is not worth waiting for.
  process.exit(0);
}
