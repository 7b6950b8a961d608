// Settings of the lobby (docs/reference/settings.md#lobby). It holds no token and opens no HTTP: all it knows comes through the
// proxy. A bad value falls back to its default and is named in `warnings`: a lobby that does not start lets nobody play.

import { readVariables, text, wholeNumber } from "@svc/config";
import { type ForwardingSecrets, secretFile } from "@svc/minecraft";

export const settings = {
  /** Address that players connect to, by way of the proxy. */
  POD_IP: text("127.0.0.1"),
  /** Its port; 0 lets the system choose one. */
  GAME_PORT: wholeNumber({ min: 0, max: 65_535, fallback: 25_565 }),
  /** Players at the same time. */
  MAX_PLAYERS: wholeNumber({ min: 1, max: 100_000, fallback: 5_000 }),
  /** File of forwarding secrets, one for each line, read again at most once a second; with one, only a proxy that knows it can bring players in. */
  SVC_FORWARDING_SECRET_FILE: text(),
};

export type LobbyConfig = {
  readonly host: string;
  readonly gamePort: number;
  readonly maxPlayers: number;
  readonly forwardingSecret?: ForwardingSecrets;
  readonly warnings: readonly string[];
};

export function loadConfig(environment: Readonly<Record<string, string | undefined>>): LobbyConfig {
  const warnings: string[] = [];
  const values = readVariables(
    settings,
    (name) => environment[name],
    ({ name, message }) => warnings.push(`${name} ${message}; its default is used`),
  );
  const secret = values.SVC_FORWARDING_SECRET_FILE;
  return {
    host: values.POD_IP,
    gamePort: values.GAME_PORT,
    maxPlayers: values.MAX_PLAYERS,
    ...(secret && { forwardingSecret: secretFile(secret) }),
    warnings,
  };
}

export type RequestRate = { readonly burst: number; readonly perSecond: number; readonly reserved: number };

/** Frames of one player; below what the proxy lets through (docs/reference/svc-control.md#rules: burst 96, 10 a second). */
export const requestRate: RequestRate = { burst: 90, perSecond: 8, reserved: 16 };

/** An open menu asks for its tiles again this often. */
export const refreshMs = 10_000;

/** A player whose menu request the proxy does not answer is told so. */
export const answerTimeoutMs = 5_000;

/** Answers for the tiles of a menu come one by one; the chest is drawn again at most this often for them. */
export const redrawMs = 250;

/** From the login to the world; a client that takes longer is closed. */
export const enterTimeoutMs = 30_000;
