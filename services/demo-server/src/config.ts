import { readFileSync } from "node:fs";
import { gameVersions } from "@svc/proto/game-version";
import { type Properties, readProperties } from "./properties.ts";

export type DemoConfig = {
  /** Version of the game, as flying-squid names it. */
  readonly version: string;
  readonly dataDir: string;
  readonly host: string;
  readonly gamePort: number;
  readonly rconPort: number;
  /** RCON stays off without one, as in vanilla. */
  readonly rconPassword?: string;
  readonly maxPlayers: number;
  readonly motd: string;
  /** With any, only a proxy that signs with one of them can bring players in. */
  readonly forwardingSecrets?: readonly string[];
  /** Whether it can be made to crash and to hang by command. */
  readonly hasFaults: boolean;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** A setting that the owner has to correct; its message is all there is to say. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

const imageDataDir = "/data";
/** The newest that the authors of flying-squid test. */
const defaultVersion = "1.21.4";

/** The environment wins over server.properties, which wins over the defaults. JAVA_MEMORY and JAVA_FLAGS mean nothing here. */
export function loadConfig(environment: Environment): DemoConfig {
  const dataDir = dataDirOf(environment);
  const file = readProperties(dataDir);
  const rconPassword = environment["RCON_PASSWORD"] || file.get("rcon.password");
  const secretPath = environment["SVC_FORWARDING_SECRET_FILE"]?.trim();
  return {
    version: version(environment["GAME_VERSION"] || defaultVersion),
    dataDir,
    host: environment["POD_IP"] || "127.0.0.1",
    gamePort: port("GAME_PORT", environment, 25_565),
    rconPort: port("RCON_PORT", environment, 25_575),
    maxPlayers: maxPlayers(environment, file),
    hasFaults: environment["DEMO_FAULTS"] === "on",
    motd: environment["MOTD"] || file.get("motd") || "A Minecraft Server",
    ...(rconPassword ? { rconPassword } : {}),
    ...(secretPath ? { forwardingSecrets: readSecrets(secretPath) } : {}),
  };
}

/** The world volume is mounted at /data; where containers are plain processes, SVC_MOUNT_WORLD says where that is. */
function dataDirOf(environment: Environment): string {
  const wanted = environment["DATA_DIR"] || imageDataDir;
  return wanted === imageDataDir ? environment["SVC_MOUNT_WORLD"] || imageDataDir : wanted;
}

/** A server that should have secrets and has none must not take players from anywhere. */
function readSecrets(path: string): string[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new ConfigError(`SVC_FORWARDING_SECRET_FILE can't be read: ${(error as Error).message}`);
  }
  const secrets = text.split(/\r?\n/).flatMap((line) => line.trim() || []);
  if (secrets.length === 0) throw new ConfigError(`SVC_FORWARDING_SECRET_FILE: ${path} holds no secret.`);
  return secrets;
}

function version(wanted: string): string {
  const names = gameVersions.map(([, name]) => name);
  if (names.includes(wanted)) return wanted;
  throw new ConfigError(`GAME_VERSION is "${wanted}"; set it to one of ${names.join(", ")}.`);
}

function port(name: string, environment: Environment, fallback: number): number {
  return wholeNumber(name, environment[name] || String(fallback), { min: 0, max: 65_535 });
}

function maxPlayers(environment: Environment, file: Properties): number {
  const [name, text] = environment["MAX_PLAYERS"]
    ? ["MAX_PLAYERS", environment["MAX_PLAYERS"]]
    : ["max-players in server.properties", file.get("max-players") || "20"];
  return wholeNumber(name, text, { min: 1, max: 10_000 });
}

function wholeNumber(name: string, text: string, { min, max }: { min: number; max: number }): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new ConfigError(`${name} is "${text}"; set it to a whole number from ${min} to ${max}.`);
}
