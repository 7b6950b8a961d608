// Settings of the proxy (docs/reference/proxy.md#configuration): svc-link.properties in its folder, and the environment, which wins.

import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { ConfigError } from "@svc/config";
import { readForwardingMasters } from "./forwarding/secrets.ts";
import { parsePeers } from "./login/peers.ts";

/** Durations and limits with the defaults of docs/reference/proxy.md#configuration, docs/reference/proxy.md#join; `queueTickMs` is the key `queue-tick-ms` and the variable SVC_PROXY_QUEUE_TICK_MS. */
export const defaultLimits = {
  refreshMs: 15_000,
  // Until the service told a list for the first time, and at most so often for a name that the list lacks.
  firstRefreshMs: 1_000,
  lookAgainMs: 1_000,
  queueTickMs: 2_000,
  presenceMs: 2_000,
  onlineCacheMs: 2_000,
  // How soon a bar, or the end of an account, reaches a player who is on.
  standingMs: 5_000,
  waiterSilenceMs: 120_000,
  waiterMaxMs: 3_600_000,
  progressMs: 60_000,
  // What was just woken may still be shown as stopped by a view that is a moment old.
  wakeSettleMs: 6_000,
  linkMemoryMs: 600_000,
  linkMemoryPlayers: 20_000,
  denialMs: 15_000,
  actionBurst: 5,
  actionEveryMs: 5_000,
  frameBurst: 96,
  frameEveryMs: 100,
  strangerWarningMs: 60_000,
  statusCacheMs: 2_000,
  // How old a server's status may be, and how long it may take to answer.
  serverLookMs: 5_000,
  serverLookTimeoutMs: 2_000,
  listNames: 500,
  workers: 8,
  slots: 64,
  serviceConnections: 32,
  retryPauseMinMs: 100,
  retryPauseMaxMs: 400,
  tokenRereadMs: 1_000,
  outageWarningMs: 300_000,
  activityMs: 600_000,
  inviteTtlMs: 60_000,
  inviteCooldownMs: 30_000,
  connections: 4_096,
  connectionsPerAddress: 16,
  loginBurst: 32,
  loginEveryMs: 2_000,
  loginTimeoutMs: 30_000,
  drainMs: 20_000,
  ticketMs: 120_000,
  cookieMs: 2_000,
} as const;
export type Limits = { readonly [Name in keyof typeof defaultLimits]: number };

export type ProxyConfig = {
  apiBaseUrl: string;
  /** The file that is read again, with the key `service-token` or the token alone; undefined: from the environment. */
  tokenFile: string | undefined;
  /** From the environment: fixed until the next start. */
  token: string;
  /** Lower case, without a dot at an end; empty switches routing off. */
  rootDomain: string;
  loginServer: string;
  lobbyServer: string;
  /** Where gate and lobby are when the registry does not tell, as host:port. */
  loginAddress: string | undefined;
  lobbyAddress: string | undefined;
  connectTimeoutMs: number;
  requestTimeoutMs: number;
  /** Among all proxies, in the list of who plays where. */
  name: string;
  /** Players' addresses stand in the log. */
  logAddresses: boolean;
  listenHost: string;
  listenPort: number;
  onlineMode: boolean;
  /** Clients choose their names and get the UUIDs of the service's local source; only for a developer's own machine. */
  localNames: boolean;
  /** Root of the session server; its hasJoined path is appended. */
  sessionServer: string;
  /** Where the panel is, told to players; undefined: nobody knows. */
  panelUrl: string | undefined;
  /** File of the forwarding masters; without it servers that require forwarding refuse everybody. */
  forwardingMasterFile: string | undefined;
  acceptProxyProtocol: boolean;
  /** Addresses and ranges whose PROXY headers are believed. */
  trustedProxies: string;
  sendProxyProtocol: boolean;
  /** host:port that players are sent to when this process ends; undefined just disconnects them with a text. */
  transferTo: string | undefined;
  /** Servers may send players to other addresses by themselves. */
  serverTransfers: boolean;
  dataDir: string;
  limits: Limits;
};

type Environment = Readonly<Record<string, string | undefined>>;
type Read = (key: string, variable: string) => string | undefined;

export const fileName = "svc-link.properties";

/** Reads file and environment. Throws `ConfigError` with the one thing to correct. */
export function loadConfig(environment: Environment): ProxyConfig {
  const dataDir = environment["SVC_PROXY_DIR"] || ".";
  const file = readProperties(join(dataDir, fileName));
  const read: Read = (key, variable) => environment[variable]?.trim() || file.get(key)?.trim() || undefined;
  const apiBaseUrl = url("api-base-url", read("api-base-url", "SVC_API_BASE_URL"));
  const servers = systemServers(read);
  const rootDomain = (read("root-domain", "SVC_ROOT_DOMAIN") ?? "").toLowerCase().replace(/^\.+|\.+$/g, "");
  return {
    apiBaseUrl,
    ...tokenSource(environment, read("service-token-file", "SVC_SERVICE_TOKEN_FILE"), { file, dataDir }),
    rootDomain,
    panelUrl: panelUrl(read("panel-hostname", "SVC_PANEL_HOSTNAME"), rootDomain),
    ...servers,
    localNames: localNames(read),
    connectTimeoutMs: seconds(
      "connect-timeout-seconds",
      read("connect-timeout-seconds", "SVC_API_CONNECT_TIMEOUT_SECONDS"),
    ),
    requestTimeoutMs: seconds(
      "request-timeout-seconds",
      read("request-timeout-seconds", "SVC_API_REQUEST_TIMEOUT_SECONDS"),
    ),
    name: proxyName(read("name", "SVC_PROXY_NAME")),
    logAddresses: yes("log-addresses", read("log-addresses", "SVC_PROXY_LOG_ADDRESSES") ?? "true"),
    listenHost: read("listen-host", "SVC_PROXY_HOST") ?? "127.0.0.1",
    listenPort: wholeNumber("listen-port", read("listen-port", "SVC_PROXY_PORT") ?? "25565", {
      min: 0,
      max: 65_535,
    }),
    onlineMode: yes("online-mode", read("online-mode", "SVC_PROXY_ONLINE_MODE") ?? "true"),
    sessionServer: url("session-server", read("session-server", "SVC_PROXY_SESSION_SERVER") ?? apiBaseUrl),
    forwardingMasterFile: masterFile(read("forwarding-master-file", "SVC_FORWARDING_MASTER_FILE")),
    ...proxyHeaders(read),
    sendProxyProtocol: yes(
      "send-proxy-protocol",
      read("send-proxy-protocol", "SVC_PROXY_SEND_PROXY_PROTOCOL") ?? "false",
    ),
    serverTransfers: yes(
      "server-transfers",
      read("server-transfers", "SVC_PROXY_SERVER_TRANSFERS") ?? "false",
    ),
    transferTo: address("transfer-to", read("transfer-to", "SVC_PROXY_TRANSFER_TO")),
    dataDir,
    limits: readLimits(read),
  };
}

function proxyName(text: string = hostname()): string {
  return text.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, 63) || "proxy";
}

/** Read once, so that a wrong file stops the start and not the first player. */
function masterFile(file: string | undefined): string | undefined {
  try {
    if (file !== undefined) readForwardingMasters(file);
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
  return file;
}

function systemServers(read: Read) {
  const loginServer = read("login-server", "SVC_LOGIN_SERVER") ?? "login";
  const lobbyServer = read("lobby-server", "SVC_LOBBY_SERVER") ?? "lobby";
  if (loginServer === lobbyServer) {
    throw new ConfigError(
      `lobby-server is "${lobbyServer}", as login-server; the gate needs a server of its own`,
    );
  }
  return {
    loginServer,
    lobbyServer,
    loginAddress: address("login-address", read("login-address", "SVC_LOGIN_ADDRESS")),
    lobbyAddress: address("lobby-address", read("lobby-address", "SVC_LOBBY_ADDRESS")),
  };
}

/** A PROXY header chooses the address a player is seen at, so its senders have to be named. */
function proxyHeaders(read: Read) {
  const acceptProxyProtocol = yes(
    "accept-proxy-protocol",
    read("accept-proxy-protocol", "SVC_PROXY_ACCEPT_PROXY_PROTOCOL") ?? "false",
  );
  const trustedProxies = read("trusted-proxies", "SVC_PROXY_TRUSTED_PROXIES") ?? "";
  parsePeers(trustedProxies);
  if (acceptProxyProtocol && trustedProxies === "")
    throw new ConfigError(
      "trusted-proxies is missing; set it to the addresses of the load balancer, or accept-proxy-protocol to false",
    );
  return { acceptProxyProtocol, trustedProxies };
}

function panelUrl(hostname: string | undefined, rootDomain: string): string | undefined {
  const host = hostname ?? (rootDomain === "" ? undefined : `console.${rootDomain}`);
  if (host === undefined) return undefined;
  // A person's own machine has no certificate.
  const isLocal = /(^|\.)localhost(:\d+)?$/i.test(host);
  return `${isLocal ? "http" : "https"}://${host}`;
}

/**
 * Clients choose their names, so only programs on this machine may connect: the address is a loopback one, and the
 * root domain resolves to this machine everywhere. The service's local source enforces the same.
 */
function localNames(read: Read): boolean {
  if (!yes("local-names", read("local-names", "SVC_PROXY_LOCAL_NAMES") ?? "false")) return false;
  const host = read("listen-host", "SVC_PROXY_HOST") ?? "127.0.0.1";
  const root = read("root-domain", "SVC_ROOT_DOMAIN") ?? "";
  const isLoopback = /^(127(\.\d{1,3}){3}|::1|localhost)$/.test(host);
  const isRelayed = (read("accept-proxy-protocol", "SVC_PROXY_ACCEPT_PROXY_PROTOCOL") ?? "false") !== "false";
  if (isLoopback && /(^|\.)localhost\.?$/i.test(root) && !isRelayed) return true;
  throw new ConfigError(
    "local-names lets anybody take any name; it needs a loopback listen-host, a root-domain below localhost and " +
      "accept-proxy-protocol off, or be false",
  );
}

function tokenSource(
  environment: Environment,
  tokenFile: string | undefined,
  { file, dataDir }: { file: ReadonlyMap<string, string>; dataDir: string },
) {
  const token = environment["SVC_SERVICE_TOKEN"]?.trim();
  if (token) return { token, tokenFile: undefined };
  if (tokenFile) return { token: "", tokenFile };
  const path = join(dataDir, fileName);
  if (file.get("service-token")?.trim()) return { token: "", tokenFile: path };
  throw new ConfigError(
    `service-token is missing; set it in ${path} or as SVC_SERVICE_TOKEN, or name its file as SVC_SERVICE_TOKEN_FILE`,
  );
}

function readLimits(read: Read): Limits {
  const entries = Object.entries(defaultLimits).map(([name, fallback]) => {
    const key = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const text = read(key, `SVC_PROXY_${key.toUpperCase().replaceAll("-", "_")}`);
    return [name, text === undefined ? fallback : wholeNumber(key, text, { min: 1, max: 2_147_483_647 })];
  });
  return Object.fromEntries(entries) as Limits;
}

/** Lines `key=value` or `key: value`; `#` and `!` begin a comment. A missing file is an empty one. */
function readProperties(path: string): ReadonlyMap<string, string> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return new Map();
    throw new ConfigError(`${path} cannot be read: ${(error as Error).message}`);
  }
  return parseProperties(text);
}

/** The keys and values of such a file. */
export function parseProperties(text: string): ReadonlyMap<string, string> {
  const pairs = text.split(/\r?\n/).flatMap((line): [string, string][] => {
    const [, key, value] = /^\s*([^#!\s=:][^\s=:]*)\s*[=:](.*)$/.exec(line) ?? [];
    return key === undefined || value === undefined ? [] : [[key, value.trim()]];
  });
  return new Map(pairs);
}

function url(key: string, text: string | undefined): string {
  if (text === undefined)
    throw new ConfigError(`${key} is missing; set it to the origin of the internal face`);
  const isHttp = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isHttp) throw new ConfigError(`${key} is "${text}"; write it as http://host:port`);
  return text.replace(/\/+$/, "");
}

function address(key: string, text: string | undefined): string | undefined {
  if (text === undefined || parseAddress(text)) return text;
  throw new ConfigError(`${key} is "${text}"; write it as host:port`);
}

/** Host and port of `host:port` or `[v6]:port`; undefined when it is neither. */
export function parseAddress(text: string): { host: string; port: number } | undefined {
  const [, v6, name, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = v6 ?? name;
  const port = Number(digits);
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}

function seconds(key: string, text = "10"): number {
  return wholeNumber(key, text, { min: 1, max: 120 }) * 1_000;
}

function wholeNumber(key: string, text: string, { min, max }: { min: number; max: number }): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new ConfigError(`${key} is "${text}"; set it to a whole number from ${min} to ${max}`);
}

function yes(key: string, text: string): boolean {
  if (text === "true" || text === "false") return text === "true";
  throw new ConfigError(`${key} is "${text}"; set it to true or false`);
}
