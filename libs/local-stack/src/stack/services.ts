import { existsSync } from "node:fs";
import { findText, writeFileAtomic } from "../atomic-file.ts";
import { programEnv, runProgram, type StackPrograms } from "../program/programs.ts";
import { gameServiceNames } from "../program/sources.ts";
import type { ChildSpec } from "../supervisor/child.ts";
import type { StackContext } from "./context.ts";
import { ensureDatabase } from "./database.ts";
import { gameEnv, sftpEnv } from "./game.ts";
import { natsServers } from "./guard.ts";
import { layout } from "./layout.ts";
import { natsAddress } from "./nats-servers.ts";
import { isReadyLine, metricsOf } from "./ready-line.ts";
import { registryEnv } from "./registry.ts";
import { migrateUser } from "./secrets.ts";

const kubeServices = ["lifecycle", "storage", "builds", "ops-watchdog"];
const ownerServices = ["identity", "lifecycle", "storage", "builds", "ops-watchdog"];
const stopMs = 15_000;
/** Each service has its own database role, created by the migrations with the password of the roles file. */
function databaseEnv(service: string, context: StackContext): NodeJS.ProcessEnv {
  if (!ownerServices.includes(service)) return {};
  const url = new URL(context.facts.databaseUrl);
  url.username = `svc_${service.replaceAll("-", "_")}`;
  url.password = context.secrets.roles[service] ?? "";
  return { SVC_DATABASE_URL: url.href };
}

/** An external NATS is used with the account in its address, the embedded one with the service's own. */
function natsEnv(service: string, { options, secrets, ports }: StackContext): Record<string, string> {
  const given = options.env["SVC_NATS_URL"];
  if (!given) {
    return {
      SVC_NATS_URL: natsAddress(options, ports),
      SVC_NATS_USER: service,
      SVC_NATS_PASSWORD: secrets.nats[service] ?? "",
    };
  }
  const url = new URL(given);
  if (!url.username) return { SVC_NATS_URL: given };
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  url.username = "";
  url.password = "";
  return { SVC_NATS_URL: url.href, SVC_NATS_USER: user, SVC_NATS_PASSWORD: password };
}

function kubeEnv(service: string, { options, paths }: StackContext): NodeJS.ProcessEnv {
  if (!kubeServices.includes(service)) return {};
  const given = options.env["SVC_KUBECONFIG"];
  // As the embedded cluster writes them: one of the service's own, with the rights of its Role.
  const own = `${given}.${service}`;
  if (given) return { SVC_KUBECONFIG: existsSync(own) ? own : given };
  const account = options.cluster.serviceAccounts.find((entry) => entry.split("/").at(-1) === service);
  return { SVC_KUBECONFIG: account ? `${paths.kubeconfig}.${service}` : paths.kubeconfig };
}

function gatewayEnv(name: string, service: string, { ports, paths }: StackContext): NodeJS.ProcessEnv {
  if (!service.startsWith("gateway-")) return {};
  return { SVC_LISTEN: `127.0.0.1:${ports[name]}`, SVC_TOKENS_DIR: paths.tokens };
}

function serviceEnv(name: string, service: string, context: StackContext): NodeJS.ProcessEnv {
  if ((gameServiceNames as readonly string[]).includes(service)) return gameEnv(name, service, context);
  if (service === "sftp") return sftpEnv(context);
  const { options, paths, nodeEnv } = context;
  // A service without a database role must not see the superuser's address.
  const { SVC_DATABASE_URL: _admin, SVC_KUBECONFIG: _kubeconfig, ...inherited } = nodeEnv;
  return {
    ...inherited,
    SVC_CONFIG: paths.configFile,
    SVC_HEALTH_PORT: "0",
    SVC_SETUP_URL_FILE: paths.setupUrlFile,
    ...(options.set?.length && { SVC_SET: options.set.join("\n") }),
    ...databaseEnv(service, context),
    ...natsEnv(service, context),
    ...kubeEnv(service, context),
    ...gatewayEnv(name, service, context),
    ...registryEnv(service, context),
  };
}

/** What a migration works on, in variables; kept in a file, so that the person can run one by hand. */
function migrateEnv(context: StackContext): Record<string, string> {
  const { paths, facts, secrets, options } = context;
  return {
    SVC_CONFIG: paths.configFile,
    SVC_DATABASE_URL: facts.databaseUrl,
    SVC_ADMIN_DATABASE_URL: facts.databaseUrl,
    SVC_ROLE_PASSWORDS_FILE: secrets.rolesFile,
    SVC_KUBECONFIG: facts.kubeconfig,
    ...natsEnv(migrateUser, context),
    ...(natsServers(options.replicas) > 1 && { SVC_NATS_REPLICAS: String(natsServers(options.replicas)) }),
    ...(options.set?.length && { SVC_SET: options.set.join("\n") }),
    // On an external cluster a folder of this machine means nothing.
    ...(!options.env["SVC_KUBECONFIG"] && { SVC_ARCHIVE_DIR: facts.archiveDir }),
  };
}

/** The variables of the last migration of a stack; undefined when none has run on the folder. */
export function findMigrateEnv(data: string): Record<string, string> | undefined {
  const text = findText(layout(data).migrateEnvFile);
  return text === undefined ? undefined : (JSON.parse(text) as Record<string, string>);
}

/** The one-shot migration; it also creates the database. */
export function migrateSpec(context: StackContext, programs: StackPrograms): ChildSpec {
  const { nodeEnv, paths, facts, options } = context;
  const own = migrateEnv(context);
  writeFileAtomic(paths.migrateEnvFile, JSON.stringify(own, null, 2));
  return {
    name: "migrate",
    kind: "task",
    command: process.execPath,
    args: [...runProgram(programs, "svc"), "migrate", "up"],
    cwd: options.repo,
    beforeStart: () => ensureDatabase(facts.databaseUrl),
    env: { ...nodeEnv, ...programEnv(programs), ...own },
  };
}

/** The build of the panel: short when it is built already. It starts before the services and beside PostgreSQL and NATS. */
export function panelSpec({ nodeEnv, paths, options }: StackContext, programs: StackPrograms): ChildSpec {
  return {
    name: "panel",
    kind: "task",
    command: process.execPath,
    args: [programs.file("panel"), "build", "--link", paths.panel],
    cwd: options.repo,
    env: { ...nodeEnv, ...programEnv(programs) },
  };
}

/** One specification per process: `storage`, `storage-2`, … */
export function serviceSpecs(context: StackContext, programs: StackPrograms): ChildSpec[] {
  // The gate starts with its registry.
  const meshAndGame = [...context.services].filter(([service]) => service !== "registry-gate");
  return meshAndGame.flatMap(([service, count]) =>
    Array.from({ length: count }, (_, index): ChildSpec => {
      const name = index === 0 ? service : `${service}-${index + 1}`;
      return {
        name,
        command: process.execPath,
        args: runProgram(programs, service),
        env: { ...serviceEnv(name, service, context), ...programEnv(programs) },
        cwd: context.options.repo,
        ready: { line: isReadyLine },
        metricsOf,
        stopTimeoutMs: stopMs,
      };
    }),
  );
}
