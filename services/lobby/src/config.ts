// Settings of the lobby (docs/reference/lobby.md#menu). It holds no token and opens no HTTP: all it knows comes through the proxy.

import { type ForwardingSecrets, secretFile } from "@svc/minecraft";

type Environment = Readonly<Record<string, string | undefined>>;

export type LobbyConfig = {
  readonly host: string;
  readonly gamePort: number;
  readonly maxPlayers: number;
  /** With one, only a proxy that knows it can bring players in. */
  readonly forwardingSecret?: ForwardingSecrets;
  readonly warnings: readonly string[];
};

export type RequestRate = { readonly burst: number; readonly perSecond: number; readonly reserved: number };

/** Frames of one player; below what the proxy lets through (docs/reference/svc-control.md#rules: burst 96, 10 a second). */
export const requestRate: RequestRate = { burst: 90, perSecond: 8, reserved: 16 };

/** An open menu asks for its tiles again this often. */
export const refreshMs = 10_000;

export function loadConfig(environment: Environment): LobbyConfig {
  const warnings: string[] = [];
  const number = (name: string, bounds: Bounds) => wholeNumber(environment[name], { name, bounds, warnings });
  const secretPath = environment["SVC_FORWARDING_SECRET_FILE"]?.trim();
  return {
    host: environment["POD_IP"] || "127.0.0.1",
    gamePort: number("GAME_PORT", { min: 0, max: 65_535, fallback: 25_565 }),
    maxPlayers: number("MAX_PLAYERS", { min: 1, max: 100_000, fallback: 5_000 }),
    ...(secretPath ? { forwardingSecret: secretFile(secretPath) } : {}),
    warnings,
  };
}

type Bounds = { min: number; max: number; fallback: number };

function wholeNumber(
  text: string | undefined,
  { name, bounds, warnings }: { name: string; bounds: Bounds; warnings: string[] },
): number {
  const { min, max, fallback } = bounds;
  if (!text?.trim()) return fallback;
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  warnings.push(`${name} is not a whole number from ${min} to ${max}; it counts as ${fallback}.`);
  return fallback;
}

/** A player whose menu request the proxy does not answer is told so. */
export const answerTimeoutMs = 5_000;

/** Answers for the tiles of a menu come one by one; the chest is drawn again at most this often for them. */
export const redrawMs = 250;

/** From the login to the world; a client that takes longer is closed. */
export const enterTimeoutMs = 30_000;
