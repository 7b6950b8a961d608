import { join } from "node:path";
import { writeFileAtomic } from "../atomic-file.ts";
import type { StackService } from "../program/sources.ts";
import type { StackContext } from "./context.ts";

/** On one machine a status request per waiting player costs nothing; the specification's 2 s are for a network. */
const queueTickMs = 500;

/** All players on this machine have the same address. */
const connectionsPerAddress = 1_000;

/** Whether player names are accepted unverified; SVC_PROXY_LOCAL_NAMES=false requires accounts. */
export function takesLocalNames(env: NodeJS.ProcessEnv): boolean {
  return env["SVC_PROXY_LOCAL_NAMES"] !== "false";
}

function proxyEnv(name: string, { services, ports, paths, facts, nodeEnv }: StackContext): NodeJS.ProcessEnv {
  const replicas = Array.from({ length: services.get("proxy") ?? 1 }, (_, index) =>
    index === 0 ? "game" : `proxy-${index + 1}`,
  );
  const own = name === "proxy" ? "game" : name;
  const other = replicas[(replicas.indexOf(own) + 1) % replicas.length];
  const addressOf = (part: StackService) => (services.has(part) ? `127.0.0.1:${ports[part]}` : "");
  return {
    SVC_SERVICE_TOKEN_FILE: join(paths.tokens, "velocity"),
    SVC_PROXY_DIR: join(paths.proxy, name),
    SVC_PROXY_HOST: "127.0.0.1",
    SVC_PROXY_PORT: String(ports[own]),
    SVC_LOGIN_ADDRESS: addressOf("login-gate"),
    SVC_LOBBY_ADDRESS: addressOf("lobby"),
    SVC_PANEL_HOSTNAME: panelOf(facts, ports),
    SVC_PROXY_LOCAL_NAMES: String(takesLocalNames(nodeEnv)),
    SVC_PROXY_CONNECTIONS_PER_ADDRESS:
      nodeEnv["SVC_PROXY_CONNECTIONS_PER_ADDRESS"] ?? String(connectionsPerAddress),
    SVC_PROXY_LOGIN_BURST: nodeEnv["SVC_PROXY_LOGIN_BURST"] ?? String(connectionsPerAddress),
    SVC_PROXY_QUEUE_TICK_MS: nodeEnv["SVC_PROXY_QUEUE_TICK_MS"] ?? String(queueTickMs),
    ...(other !== own && { SVC_PROXY_TRANSFER_TO: `127.0.0.1:${ports[other ?? own]}` }),
  };
}

const panelOf = ({ panelHost }: StackContext["facts"], ports: StackContext["ports"]) =>
  `${panelHost}:${ports["gateway-external"]}`;

function gateEnv({ paths, facts, ports }: StackContext): NodeJS.ProcessEnv {
  return {
    SVC_SERVICE_TOKEN_FILE: join(paths.tokens, "limbo"),
    SVC_PANEL_HOSTNAME: panelOf(facts, ports),
  };
}

/** The variables of the machine without the secrets of the mesh, the database or the cluster. */
function outsideEnv({ nodeEnv }: StackContext): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(nodeEnv).filter(([key]) => !unwanted.test(key)));
}

/** Environment of SFTP (docs/reference/sftp.md#settings). */
export function sftpEnv(context: StackContext): NodeJS.ProcessEnv {
  const { facts, paths, secrets } = context;
  return {
    ...outsideEnv(context),
    SVC_HEALTH_PORT: "0",
    SVC_API_BASE_URL: facts.internalBaseUrl,
    SVC_EXTERNAL_URL: facts.externalBaseUrl,
    SVC_SERVICE_TOKEN_FILE: join(paths.tokens, "sftp"),
    SVC_SFTP_HOST: facts.sftp?.host,
    SVC_SFTP_PORT: String(facts.sftp?.port),
    // Names below localhost are resolved by browsers only.
    SVC_SFTP_PUBLIC_HOST: facts.sftp?.host,
    SVC_SFTP_HOST_KEY_FILE: secrets.sftpHostKeyFile,
    SVC_SFTP_DIR: paths.sftp,
  };
}

/** Environment of a process of the game side: none of the secrets of the mesh, the database or the cluster. */
export function gameEnv(name: string, service: string, context: StackContext): NodeJS.ProcessEnv {
  const { facts, paths, ports, secrets } = context;
  return {
    ...outsideEnv(context),
    SVC_HEALTH_PORT: "0",
    // The lobby makes no requests; the proxy sends it everything.
    ...(service !== "lobby" && {
      SVC_API_BASE_URL: facts.internalBaseUrl,
      SVC_ROOT_DOMAIN: facts.rootDomain,
    }),
    POD_IP: "127.0.0.1",
    GAME_PORT: String(ports[service]),
    ...(service === "proxy"
      ? { SVC_FORWARDING_MASTER_FILE: secrets.forwarding.file }
      : { SVC_FORWARDING_SECRET_FILE: forwardingFile(paths, service) }),
    ...(service === "proxy" && proxyEnv(name, context)),
    ...(service === "login-gate" && gateEnv(context)),
  };
}

const forwardingFile = (paths: StackContext["paths"], service: string) =>
  join(paths.secrets, `forwarding-${service}`);

/** Writes the secrets that gate and lobby accept, but not the masters they are derived from. */
export function writeForwardingFiles({ options, paths, secrets }: StackContext): void {
  const files: Record<string, string> = { ...options.forwardingSecrets?.(secrets.forwarding.masters) };
  for (const [service, text] of Object.entries(files)) writeFileAtomic(forwardingFile(paths, service), text);
}

const unwanted = /^SVC_(SERVICE_TOKEN|DATABASE_URL|KUBECONFIG|NATS_.*|ADMIN_.*)$/;
