// Settings of the login gate (docs/reference/login-gate.md#states). A bad value falls back to its default and is named in `warnings`: a
// gate that does not start lets nobody in.

import { type ForwardingSecrets, secretFile } from "@svc/minecraft";
import { readToken } from "@svc/service/token";

type Environment = Readonly<Record<string, string | undefined>>;

export type GateConfig = {
  readonly host: string;
  readonly gamePort: number;
  readonly healthPort: number;
  readonly maxPlayers: number;
  /** With one, only a proxy that knows it can bring players in. */
  readonly forwardingSecret?: ForwardingSecrets;
  /** Named in the log only: the proxy knows where players go on. */
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

const loginTimeoutSeconds = { min: 30, max: 3_600, fallback: 600 };

export function loadConfig(environment: Environment): GateConfig {
  const warnings: string[] = [];
  const port = (name: string, fallback: number) =>
    wholeNumber(environment[name], { name, min: 0, max: 65_535, fallback, warnings });
  const timeoutSeconds = clamped(environment["SVC_LOGIN_TIMEOUT_SECONDS"], warnings);
  const secretPath = environment["SVC_FORWARDING_SECRET_FILE"]?.trim();
  const flow = flowOf(environment, warnings);
  return {
    host: environment["POD_IP"] || "127.0.0.1",
    gamePort: port("GAME_PORT", 25_565),
    healthPort: port("SVC_HEALTH_PORT", 8_080),
    maxPlayers: wholeNumber(environment["MAX_PLAYERS"], {
      name: "MAX_PLAYERS",
      min: 1,
      max: 100_000,
      fallback: 5_000,
      warnings,
    }),
    lobbyServer: environment["SVC_LOBBY_SERVER"]?.trim() || "lobby",
    rules: { ...defaultRules, loginTimeoutMs: timeoutSeconds * 1_000 },
    warnings,
    ...(secretPath ? { forwardingSecret: secretFile(secretPath) } : {}),
    ...(flow ? { flow } : {}),
  };
}

function flowOf(environment: Environment, warnings: string[]): GateConfig["flow"] {
  const baseUrl = environment["SVC_API_BASE_URL"]?.trim() ?? "";
  const given = environment["SVC_SERVICE_TOKEN"]?.trim();
  const tokenFile = given ? undefined : environment["SVC_SERVICE_TOKEN_FILE"]?.trim() || undefined;
  const token = given || (tokenFile && readToken(tokenFile)) || "";
  const root = environment["SVC_ROOT_DOMAIN"]?.trim();
  const panelHost = environment["SVC_PANEL_HOSTNAME"]?.trim() || (root ? `console.${root}` : "");
  const missing = [
    ...(isHttpUrl(baseUrl) ? [] : ["SVC_API_BASE_URL"]),
    ...(token ? [] : [tokenFile ? `a token in ${tokenFile}` : "SVC_SERVICE_TOKEN"]),
    ...(isHost(panelHost) ? [] : ["SVC_PANEL_HOSTNAME or SVC_ROOT_DOMAIN"]),
  ];
  if (missing.length === 0) return { baseUrl, token, panelHost, ...(tokenFile ? { tokenFile } : {}) };
  warnings.push(`The sign-in flow is off and nobody passes: set ${missing.join(", ")}.`);
  return undefined;
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function isHost(text: string): boolean {
  return /^[a-z0-9.-]+(:\d{1,5})?$/i.test(text);
}

type Bounds = { name: string; min: number; max: number; fallback: number; warnings: string[] };

function wholeNumber(text: string | undefined, { name, min, max, fallback, warnings }: Bounds): number {
  if (!text?.trim()) return fallback;
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  warnings.push(`${name} is not a whole number from ${min} to ${max}; it counts as ${fallback}.`);
  return fallback;
}

function clamped(text: string | undefined, warnings: string[]): number {
  const { min, max, fallback } = loginTimeoutSeconds;
  const name = "SVC_LOGIN_TIMEOUT_SECONDS";
  const seconds = wholeNumber(text, { name, min: 0, max: Number.MAX_SAFE_INTEGER, fallback, warnings });
  return Math.min(max, Math.max(min, seconds));
}

/** From the login to the world; a client that takes longer is closed. */
export const enterTimeoutMs = 30_000;
