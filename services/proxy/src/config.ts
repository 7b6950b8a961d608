// Settings of the proxy (docs/reference/settings.md#proxy): svc-link.properties in its folder, and the environment, which wins.

import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { ConfigError, flag, httpUrl, parsed, readVariables, text, wholeNumber } from "@svc/config";
import { readForwardingMasters } from "./forwarding/secrets.ts";
import { type Limits, limits } from "./limit-settings.ts";
import { parsePeers } from "./login/peers.ts";

const seconds = (fallback: number) => wholeNumber({ min: 1, max: 120, fallback });
const hostPort = () =>
  parsed((text) => (parseAddress(text) ? text : undefined), "an address as host:port").optional();

export const settings = {
  /** Origin of the internal face; required. */
  apiBaseUrl: httpUrl(),
  /** Token of the caller `velocity`. This key of the file is read again, the variable is fixed until the next start; this or the next one is required. */
  serviceToken: text(),
  /** File of that token, which is read again: the token alone, or a line `service-token`. */
  serviceTokenFile: text(),
  /** Domain whose subdomains lead to servers; empty = no routing. */
  rootDomain: text(),
  /** Host of the panel, told to players; empty = `console.` and the root domain. */
  panelHostname: text(),
  /** Name of the server that is the login gate. */
  loginServer: text("login"),
  /** Name of the server that is the lobby. */
  lobbyServer: text("lobby"),
  /** Address of the gate as host:port; unset = as listed. */
  loginAddress: hostPort(),
  /** Address of the lobby as host:port; unset = as listed. */
  lobbyAddress: hostPort(),
  /** Seconds for connecting to the service, 1 to 120. */
  connectTimeoutSeconds: seconds(10),
  /** Seconds for one request to the service, 1 to 120. */
  requestTimeoutSeconds: seconds(10),
  /** Name of this proxy in the list of who plays where; empty = the host's name. */
  name: text(),
  /** Whether the log has players' addresses. */
  logAddresses: flag(true),
  /** Address that players connect to. */
  listenHost: text("127.0.0.1"),
  /** Its port; 0 lets the system choose one. */
  listenPort: wholeNumber({ min: 0, max: 65_535, fallback: 25_565 }),
  /** Whether players must be authenticated by a session server. */
  onlineMode: flag(true),
  /** Clients choose their names; only for a developer's own machine. */
  localNames: flag(false),
  /** Root of the session server, to which the path of hasJoined is appended; unset = the service. */
  sessionServer: httpUrl().optional(),
  /** File of the forwarding masters; without it servers that require forwarding refuse everybody. */
  forwardingMasterFile: text(),
  /** Whether connections begin with a PROXY header. */
  acceptProxyProtocol: flag(false),
  /** Addresses and ranges whose PROXY headers are trusted. */
  trustedProxies: text(),
  /** Whether servers are sent a PROXY header. */
  sendProxyProtocol: flag(false),
  /** Address as host:port that players are sent to when this process ends; unset = they are disconnected with a text. */
  transferTo: hostPort(),
  /** Whether servers may send players to other addresses by themselves. */
  serverTransfers: flag(false),
  /** Whether plugins on servers are answered on `bungeecord:main`, and may move the player to another server. */
  pluginMessages: flag(false),
};

/** Variables that are not `SVC_PROXY_` and the name of the setting. */
const otherVariables: Readonly<Record<string, string>> = {
  apiBaseUrl: "SVC_API_BASE_URL",
  serviceToken: "SVC_SERVICE_TOKEN",
  serviceTokenFile: "SVC_SERVICE_TOKEN_FILE",
  rootDomain: "SVC_ROOT_DOMAIN",
  panelHostname: "SVC_PANEL_HOSTNAME",
  loginServer: "SVC_LOGIN_SERVER",
  lobbyServer: "SVC_LOBBY_SERVER",
  loginAddress: "SVC_LOGIN_ADDRESS",
  lobbyAddress: "SVC_LOBBY_ADDRESS",
  connectTimeoutSeconds: "SVC_API_CONNECT_TIMEOUT_SECONDS",
  requestTimeoutSeconds: "SVC_API_REQUEST_TIMEOUT_SECONDS",
  listenHost: "SVC_PROXY_HOST",
  listenPort: "SVC_PROXY_PORT",
  forwardingMasterFile: "SVC_FORWARDING_MASTER_FILE",
};

/** Key in the file and variable of a setting. */
export function namesOf(setting: string): { key: string; variable: string } {
  const key = setting.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return {
    key,
    variable: otherVariables[setting] ?? `SVC_PROXY_${key.toUpperCase().replaceAll("-", "_")}`,
  };
}

type Values = ReturnType<typeof readVariables<typeof settings>>;
export type ProxyConfig = Omit<
  Values,
  | "serviceToken"
  | "serviceTokenFile"
  | "panelHostname"
  | "connectTimeoutSeconds"
  | "requestTimeoutSeconds"
  | "forwardingMasterFile"
> & {
  readonly sessionServer: string;
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
  /** The file that is read again, with the key `service-token` or the token alone; undefined: from the environment. */
  readonly tokenFile: string | undefined;
  /** From the environment: fixed until the next start. */
  readonly token: string;
  /** Where the panel is, told to players; undefined: nobody knows. */
  readonly panelUrl: string | undefined;
  readonly forwardingMasterFile: string | undefined;
  readonly dataDir: string;
  readonly limits: Limits;
};

type Environment = Readonly<Record<string, string | undefined>>;

export const fileName = "svc-link.properties";

/** Reads file and environment. Throws `ConfigError` with the one thing to correct. */
export function loadConfig(environment: Environment): ProxyConfig {
  const dataDir = environment["SVC_PROXY_DIR"] || ".";
  const path = join(dataDir, fileName);
  const file = readProperties(path);
  const read = (setting: string) => {
    const { key, variable } = namesOf(setting);
    return environment[variable]?.trim() || file.get(key);
  };
  const stop = ({ name, message }: { name: string; message: string }) => {
    throw new ConfigError(`${namesOf(name).key} ${message}`);
  };
  const {
    serviceToken,
    serviceTokenFile,
    panelHostname,
    connectTimeoutSeconds,
    requestTimeoutSeconds,
    forwardingMasterFile,
    ...values
  } = readVariables(settings, read, stop);
  const rootDomain = values.rootDomain.toLowerCase().replace(/^\.+|\.+$/g, "");
  checkTogether(values);
  const fixedToken = environment["SVC_SERVICE_TOKEN"]?.trim();
  if (!serviceToken && !serviceTokenFile)
    throw new ConfigError(
      `service-token is missing; set it in ${path} or as SVC_SERVICE_TOKEN, or name its file as SVC_SERVICE_TOKEN_FILE`,
    );
  return {
    ...values,
    rootDomain,
    name: (values.name || hostname()).replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, 63) || "proxy",
    sessionServer: values.sessionServer ?? values.apiBaseUrl,
    connectTimeoutMs: connectTimeoutSeconds * 1_000,
    requestTimeoutMs: requestTimeoutSeconds * 1_000,
    token: fixedToken ?? "",
    tokenFile: fixedToken ? undefined : serviceTokenFile || path,
    panelUrl: panelUrl(panelHostname || (rootDomain && `console.${rootDomain}`)),
    forwardingMasterFile: masterFile(forwardingMasterFile),
    dataDir,
    limits: readVariables(limits, read, stop),
  };
}

/** Read once, so that a wrong file stops the start and not the first player. */
function masterFile(file: string): string | undefined {
  try {
    if (file) readForwardingMasters(file);
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
  return file || undefined;
}

type Checked = Pick<
  Values,
  | "loginServer"
  | "lobbyServer"
  | "acceptProxyProtocol"
  | "trustedProxies"
  | "localNames"
  | "listenHost"
  | "rootDomain"
>;

function checkTogether({ loginServer, lobbyServer, acceptProxyProtocol, trustedProxies, ...rest }: Checked) {
  if (loginServer === lobbyServer)
    throw new ConfigError(
      `lobby-server is "${lobbyServer}", as login-server; the gate needs a server of its own`,
    );
  // Clients choose their names, so only programs on this machine may connect: the address is a loopback one, and the
  // root domain resolves to this machine everywhere. The service's local source enforces the same.
  const isLoopback = /^(127(\.\d{1,3}){3}|::1|localhost)$/.test(rest.listenHost);
  const isLocal = isLoopback && /(^|\.)localhost\.?$/i.test(rest.rootDomain) && !acceptProxyProtocol;
  if (rest.localNames && !isLocal)
    throw new ConfigError(
      "local-names lets anybody take any name; it needs a loopback listen-host, a root-domain below localhost and " +
        "accept-proxy-protocol off, or be false",
    );
  parsePeers(trustedProxies);
  // A PROXY header chooses the address a player is seen at, so its senders have to be named.
  if (acceptProxyProtocol && trustedProxies === "")
    throw new ConfigError(
      "trusted-proxies is missing; set it to the addresses of the load balancer, or accept-proxy-protocol to false",
    );
}

function panelUrl(host: string): string | undefined {
  if (host === "") return undefined;
  // A person's own machine has no certificate.
  const isLocal = /(^|\.)localhost(:\d+)?$/i.test(host);
  return `${isLocal ? "http" : "https"}://${host}`;
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

/** Host and port of `host:port` or `[v6]:port`; undefined when it is neither. */
export function parseAddress(text: string): { host: string; port: number } | undefined {
  const [, v6, name, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = v6 ?? name;
  const port = Number(digits);
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}
