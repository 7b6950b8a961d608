// Settings of the login gate (docs/reference/settings.md#login-gate). A bad value falls back to its default and is named in `warnings`:
// a gate that does not start lets nobody in.

import { readVariables, text, wholeNumber } from "@svc/config";
import { type ForwardingSecrets, secretFile } from "@svc/minecraft";
import { readToken } from "@svc/service/token";

export const settings = {
  /** Address that players connect to, by way of the proxy. */
  POD_IP: text("127.0.0.1"),
  /** Its port; 0 lets the system choose one. */
  GAME_PORT: wholeNumber({ min: 0, max: 65_535, fallback: 25_565 }),
  /** Port of `/healthz` and `/metrics` on the same address. */
  SVC_HEALTH_PORT: wholeNumber({ min: 0, max: 65_535, fallback: 8_080 }),
  /** Players at the same time. */
  MAX_PLAYERS: wholeNumber({ min: 1, max: 100_000, fallback: 5_000 }),
  /** File of forwarding secrets, one for each line, read again at most once a second; with one, only a proxy that knows it can bring players in. */
  SVC_FORWARDING_SECRET_FILE: text(),
  /** Name of the lobby for the log; the proxy decides where players go. */
  SVC_LOBBY_SERVER: text("lobby"),
  /** Seconds a player may take to link their account, from 30 to 3600. */
  SVC_LOGIN_TIMEOUT_SECONDS: wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER, fallback: 600 }),
  /** Origin of the internal face. Without it, a token and the panel's address nobody can sign in. */
  SVC_API_BASE_URL: text(),
  /** Token of the caller `limbo`; fixed until the next start. */
  SVC_SERVICE_TOKEN: text(),
  /** File of that token, read again at most once a second. */
  SVC_SERVICE_TOKEN_FILE: text(),
  /** Domain of the installation. */
  SVC_ROOT_DOMAIN: text(),
  /** Host of the panel; empty = `console.` and the root domain. */
  SVC_PANEL_HOSTNAME: text(),
};

export type GateConfig = {
  readonly host: string;
  readonly gamePort: number;
  readonly healthPort: number;
  readonly maxPlayers: number;
  readonly forwardingSecret?: ForwardingSecrets;
  readonly lobbyServer: string;
  /** Absent: the sign-in flow is off, and nobody passes. */
  readonly flow?: {
    readonly baseUrl: string;
    readonly token: string;
    /** Where the token came from and is read again; absent: from the environment. */
    readonly tokenFile?: string;
    readonly panelHost: string;
  };
  readonly rules: GateRules;
  readonly warnings: readonly string[];
};

/** How long and how often the gate asks. */
export type GateRules = {
  readonly pollMs: number;
  readonly loginTimeoutMs: number;
  /** Between attempts; the last one repeats. */
  readonly backoffMs: readonly number[];
  readonly outageWindowMs: number;
  readonly releaseWindowMs: number;
};

/** One call of the service may take this long. */
export const requestTimeoutMs = 10_000;

/** A token in a file is read again after this long. */
export const tokenRereadMs = 1_000;

/** Calls under way at once over all players; more of them wait for their turn. */
export const callsAtOnce = 64;

/** A service that cannot be asked about many players in one call is tried again after this long. */
export const oneByOneMs = 60_000;

export const defaultRules: GateRules = {
  pollMs: 1_000,
  loginTimeoutMs: 600_000,
  backoffMs: [1_000, 2_000, 4_000, 8_000],
  outageWindowMs: 60_000,
  releaseWindowMs: 120_000,
};

const loginTimeoutSeconds = { min: 30, max: 3_600 };

export function loadConfig(environment: Readonly<Record<string, string | undefined>>): GateConfig {
  const warnings: string[] = [];
  const values = readVariables(
    settings,
    (name) => environment[name],
    ({ name, message }) => warnings.push(`${name} ${message}; its default is used`),
  );
  const { min, max } = loginTimeoutSeconds;
  const timeoutSeconds = Math.min(max, Math.max(min, values.SVC_LOGIN_TIMEOUT_SECONDS));
  const secret = values.SVC_FORWARDING_SECRET_FILE;
  const flow = flowOf(values, warnings);
  return {
    host: values.POD_IP,
    gamePort: values.GAME_PORT,
    healthPort: values.SVC_HEALTH_PORT,
    maxPlayers: values.MAX_PLAYERS,
    lobbyServer: values.SVC_LOBBY_SERVER,
    rules: { ...defaultRules, loginTimeoutMs: timeoutSeconds * 1_000 },
    warnings,
    ...(secret && { forwardingSecret: secretFile(secret) }),
    ...(flow && { flow }),
  };
}

type FlowSetting =
  | "SVC_API_BASE_URL"
  | "SVC_SERVICE_TOKEN"
  | "SVC_SERVICE_TOKEN_FILE"
  | "SVC_ROOT_DOMAIN"
  | "SVC_PANEL_HOSTNAME";

function flowOf(values: Record<FlowSetting, string>, warnings: string[]): GateConfig["flow"] {
  const { SVC_API_BASE_URL: baseUrl, SVC_SERVICE_TOKEN: given, SVC_ROOT_DOMAIN: root } = values;
  const tokenFile = given ? "" : values.SVC_SERVICE_TOKEN_FILE;
  const token = given || (tokenFile && readToken(tokenFile)) || "";
  const panelHost = values.SVC_PANEL_HOSTNAME || (root && `console.${root}`);
  const missing = [
    ...(isHttpUrl(baseUrl) ? [] : ["SVC_API_BASE_URL"]),
    ...(token ? [] : [tokenFile ? `a token in ${tokenFile}` : "SVC_SERVICE_TOKEN"]),
    ...(isHost(panelHost) ? [] : ["SVC_PANEL_HOSTNAME or SVC_ROOT_DOMAIN"]),
  ];
  if (missing.length === 0) return { baseUrl, token, panelHost, ...(tokenFile && { tokenFile }) };
  warnings.push(`The sign-in flow is off and nobody passes: set ${missing.join(", ")}.`);
  return undefined;
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function isHost(text: string): boolean {
  return /^[a-z0-9.-]+(:\d{1,5})?$/i.test(text);
}

/** From the login to the world; a client that takes longer is closed. */
export const enterTimeoutMs = 30_000;
