import { choosePorts, type PortName, type Ports } from "../ports/ports.ts";
import { postgresUrl } from "../postgres/postgres.ts";
import { type StackService, serviceNames } from "../program/sources.ts";
import { embeddedParts } from "./embedded-parts.ts";
import { chooseServices } from "./guard.ts";
import { type Layout, layout } from "./layout.ts";
import { natsPortNames } from "./nats-servers.ts";
import type { StackFacts, StackOptions } from "./options.ts";
import { ensureSecrets, operatorUser, type StackSecrets } from "./secrets.ts";

/** Everything that is known before the first process starts. */
export type StackContext = {
  options: StackOptions;
  paths: Layout;
  services: ReadonlyMap<StackService, number>;
  secrets: StackSecrets;
  ports: Ports;
  facts: StackFacts;
  /** Environment that every Node child starts from. */
  nodeEnv: NodeJS.ProcessEnv;
  say: (line: string) => void;
};

const databaseName = "svc";
const rootDomain = "svc.localhost";
const registryPorts = ["registry-gate", "registry", "registry-lease"] as const;

function neededPorts(options: StackOptions, services: ReadonlyMap<StackService, number>): PortName[] {
  const parts = embeddedParts(options.env);
  return [
    ...(["gateway-external", "gateway-internal"] as const).filter((name) => services.has(name)),
    ...(["postgres", "nats", "local-cluster"] as const).filter((name) => parts.includes(name)),
    ...(services.has("registry-gate") ? registryPorts : []),
    ...(services.has("sftp") ? (["sftp"] as const) : []),
    "smtp",
    "mail-page",
    // Tests of single services read it although nothing listens there.
    ...(services.has("proxy") || options.ports === "auto" ? (["game"] as const) : []),
  ];
}

/** Gateways and proxies beyond the first listen on ports of their own, and so do the gate and the lobby behind them. */
function freePorts(services: ReadonlyMap<StackService, number>): string[] {
  const replicas = [...services]
    .filter(([name]) => name.startsWith("gateway-") || name === "proxy")
    .flatMap(([name, count]) => Array.from({ length: count - 1 }, (_, index) => `${name}-${index + 2}`));
  return [...replicas, ...(["login-gate", "lobby"] as const).filter((name) => services.has(name))];
}

function natsOperatorUrl(options: StackOptions, secrets: StackSecrets, ports: Ports): string {
  const given = options.env["SVC_NATS_URL"];
  return given || `nats://${operatorUser}:${secrets.nats[operatorUser]}@127.0.0.1:${ports.nats}`;
}

function createFacts(
  options: StackOptions,
  paths: Layout,
  known: { services: ReadonlyMap<StackService, number>; secrets: StackSecrets; ports: Ports },
): StackFacts {
  const { services, secrets, ports } = known;
  return {
    data: options.data,
    rootDomain,
    panelHost: `console.${rootDomain}`,
    adminHost: `op.console.${rootDomain}`,
    internalBaseUrl: `http://127.0.0.1:${ports["gateway-internal"]}`,
    externalBaseUrl: `http://127.0.0.1:${ports["gateway-external"]}`,
    natsUrl: natsOperatorUrl(options, secrets, ports),
    databaseUrl:
      options.env["SVC_DATABASE_URL"] ||
      postgresUrl({ port: ports.postgres, password: secrets.postgres }, databaseName),
    kubeconfig: options.env["SVC_KUBECONFIG"] || paths.kubeconfig,
    archiveDir: paths.archive,
    panelDir: paths.panel,
    tokensDir: paths.tokens,
    smtp: { host: "127.0.0.1", port: ports.smtp },
    mailPage: `http://127.0.0.1:${ports["mail-page"]}`,
    game: { host: "127.0.0.1", port: ports.game },
    sftp: services.has("sftp") ? { host: "127.0.0.1", port: ports.sftp } : undefined,
    registryHost: services.has("registry-gate") ? `127.0.0.1:${ports["registry-gate"]}` : undefined,
    setupUrlFile: paths.setupUrlFile,
    forwardingSecret: services.has("proxy") ? secrets.forwarding.masters.split("\n")[0]?.trim() : undefined,
    forwardingMasterFile: services.has("proxy") ? secrets.forwarding.file : undefined,
    ports,
  };
}

/**
 * The user's environment without npm's additions, with V8's code cache for a quick start, and with one arena of the C
 * library instead of one for each thread, which saves 3 MB a process.
 */
function childEnv(options: StackOptions, paths: Layout): NodeJS.ProcessEnv {
  const own = Object.entries(options.env).filter(([name]) => !name.startsWith("npm_"));
  return { NODE_COMPILE_CACHE: paths.compileCache, MALLOC_ARENA_MAX: "1", ...Object.fromEntries(own) };
}

/** Chooses secrets and ports; throws a `StackError` for a wrong option or a taken port. */
export async function createContext(options: StackOptions): Promise<StackContext> {
  const paths = layout(options.data);
  const services = chooseServices(options);
  const secrets = ensureSecrets(paths, serviceNames);
  const ports = await choosePorts({
    mode: options.ports,
    file: paths.portsFile,
    needed: neededPorts(options, services),
    preferred: ["game"],
    extra: [...freePorts(services), ...natsPortNames(options)],
  });
  return {
    options,
    paths,
    services,
    secrets,
    ports,
    facts: createFacts(options, paths, { services, secrets, ports }),
    nodeEnv: childEnv(options, paths),
    say: options.say,
  };
}
