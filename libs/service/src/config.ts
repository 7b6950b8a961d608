// The environment variables of every service process; everything else is in the configuration file.

import { ConfigError, parseServiceArguments, type ServiceArguments } from "@svc/config";

export type ServiceEnvironment = ServiceArguments & {
  natsUrl: string;
  natsUser: string;
  natsPassword: string;
  /** Connection URL of the service's own role; empty for gateways. */
  databaseUrl: string;
  /** Connections to PostgreSQL, 1 to 25; undefined: the default of the service. */
  poolSize: number | undefined;
  healthHost: string;
  healthPort: number;
  byteTransferHost: string;
  logLevel: string;
  buildVersion: string;
  /** Collector of traces and the share of them that it gets, by the names that OpenTelemetry has for them. */
  collector: Collector;
};

type Collector = Partial<Record<"OTEL_EXPORTER_OTLP_ENDPOINT" | "OTEL_TRACES_SAMPLER_ARG", string>>;

/** Reads arguments and `SVC_…` variables. Throws `ConfigError` naming what is missing. */
export function readEnvironment(
  service: string,
  argv: readonly string[] = process.argv.slice(2),
  env: NodeJS.ProcessEnv = process.env,
): ServiceEnvironment {
  const args = parseServiceArguments(argv);
  const overrides = (env["SVC_SET"] ?? "").split("\n").filter((line) => line !== "");
  const need = (name: string) => {
    const value = env[name];
    if (value !== undefined && value !== "") return value;
    if (args.help || args.version) return "";
    throw new ConfigError(`${name} is not set; ${service} --help lists the environment`);
  };
  return {
    ...args,
    file: args.file ?? env["SVC_CONFIG"],
    overrides: [...overrides, ...args.overrides],
    natsUrl: need("SVC_NATS_URL"),
    natsUser: env["SVC_NATS_USER"] ?? service,
    natsPassword: env["SVC_NATS_PASSWORD"] ?? "",
    databaseUrl: env["SVC_DATABASE_URL"] ?? "",
    poolSize: poolSize(env["SVC_DATABASE_POOL_SIZE"]),
    healthHost: env["SVC_HEALTH_HOST"] ?? "127.0.0.1",
    healthPort: Number(env["SVC_HEALTH_PORT"] ?? 0),
    byteTransferHost: env["SVC_LANE_HOST"] ?? "127.0.0.1",
    logLevel: env["SVC_LOG_LEVEL"] ?? "info",
    buildVersion: env["SVC_VERSION"] ?? "0.1.0",
    collector: env,
  };
}

// All services together stay below 80, so that a default PostgreSQL server has enough connections (docs/reference/settings.md).
function poolSize(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const size = Number(text);
  if (Number.isInteger(size) && size >= 1 && size <= 25) return size;
  throw new ConfigError(`SVC_DATABASE_POOL_SIZE is ${text}; it must be a whole number from 1 to 25`);
}

/** Text of `--help` of a service. */
export function serviceHelp(service: string): string {
  return `svc ${service}: one process of the svc control plane

usage: ${service} [--config FILE] [--set section.key=value ...] [--help] [--version]

environment
  SVC_CONFIG          configuration file (TOML); the same as --config
  SVC_SET             more --set values, one per line
  SVC_NATS_URL        NATS server, nats://host:4222; those of a cluster with commas between them
  SVC_NATS_USER       user of this service (default ${service})
  SVC_NATS_PASSWORD   its password
  SVC_DATABASE_URL    PostgreSQL URL of this service's role (services with tables)
  SVC_DATABASE_POOL_SIZE  its connections, 1 to 25
  SVC_KUBECONFIG      kubeconfig file (services that talk to the cluster; in a pod: the service account)
  SVC_HEALTH_HOST     address of /healthz, /readyz and /metrics (default 127.0.0.1)
  SVC_HEALTH_PORT     their port (default: any free one, see the log)
  SVC_LANE_HOST       address where gateways reach this process for uploads and downloads
  SVC_LOG_LEVEL       debug, info, warn or error (default info)
  OTEL_EXPORTER_OTLP_ENDPOINT  collector of traces, http://host:4318; without one nothing is traced
  OTEL_TRACES_SAMPLER_ARG      share of the traces that is sent, 0 to 1 (default 1)
`;
}

/** What every process at the edge reads of its variables, and all of them for its own settings. */
export type EdgeEnvironment = Pick<
  ServiceEnvironment,
  "healthHost" | "healthPort" | "logLevel" | "buildVersion"
> & { readonly variables: Readonly<Record<string, string | undefined>> };

export function readEdgeEnvironment(variables: EdgeEnvironment["variables"] = process.env): EdgeEnvironment {
  return {
    variables,
    healthHost: variables["SVC_HEALTH_HOST"] ?? "127.0.0.1",
    healthPort: Number(variables["SVC_HEALTH_PORT"] ?? 0),
    logLevel: variables["SVC_LOG_LEVEL"] ?? "info",
    buildVersion: variables["SVC_VERSION"] ?? "0.1.0",
  };
}
