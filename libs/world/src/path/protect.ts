// Files that hold secrets of the platform, found by what they are and not by what they are called, so that a hard
// link or another spelling does not get around it (docs/reference/files.md#paths).

import { WorldFault } from "../fault.ts";
import { type Folder, type Identity, isSameFile } from "./folder.ts";

export const propertiesPath = "server.properties";
const configName = "config";
const forwardingName = "paper-global.yml";
export const forwardingPath = `${configName}/${forwardingName}`;
const partialEnding = ".svc-partial";
/** What a starting pod writes the next content of a file to; one that is killed leaves it. */
export const partialNameOf = (name: string): string => `.${name}${partialEnding}`;
export const isPartialName = (name: string): boolean => name.endsWith(partialEnding);

export type Protected = {
  /** `server.properties`: read with its RCON password masked, never moved. */
  properties: Identity | undefined;
  /** `config`: never replaced or moved. */
  config: Identity | undefined;
  /** `config/paper-global.yml`: holds the forwarding secret; never read, written, moved or sent. */
  forwarding: Identity | undefined;
  /** What a killed start left of the two files: the same secrets, read as these are; anybody may remove them. */
  partials: { properties: Identity | undefined; forwarding: Identity | undefined };
};

/** Finds the protected files of a world; files that don't exist need no protection. */
export async function findProtected(root: Folder): Promise<Protected> {
  const properties = await root.find(propertiesPath);
  const config = await root.find(configName);
  const partials = { properties: await root.find(partialNameOf(propertiesPath)), forwarding: undefined };
  const found: Protected = { properties, config, forwarding: undefined, partials };
  if (!config?.isDirectory()) return found;
  await using folder = await root.enter(configName);
  const forwarding = await folder.find(forwardingName);
  return {
    ...found,
    forwarding,
    partials: { ...partials, forwarding: await folder.find(partialNameOf(forwardingName)) },
  };
}

/** True for the same file under any name. */
export function isForwarding(known: Protected, file: Identity): boolean {
  return [known.forwarding, known.partials.forwarding].some((one) => one && isSameFile(one, file));
}

export function isProperties(known: Protected, file: Identity): boolean {
  return [known.properties, known.partials.properties].some((one) => one && isSameFile(one, file));
}

/** Throws `bad_path` when something may not be moved. */
export function assertMovable(known: Protected, file: Identity): void {
  const isKept = [known.properties, known.config, known.forwarding].some(
    (one) => one && isSameFile(one, file),
  );
  if (!isKept) return;
  throw new WorldFault(
    "bad_path",
    "server.properties, the config folder and config/paper-global.yml can't be moved or renamed; the platform needs them.",
  );
}

/** As java.util.Properties reads it: other separators, an escaped key, a value that continues on the next line. */
const passwordLine =
  /^([ \t\f]*rcon\\?\.password(?:[ \t\f]*[=:][ \t\f]*|[ \t\f]+))((?:\\(?:\r\n|[\s\S])|[^\\\r\n])*)/gim;

/** The text of `server.properties` without the RCON password. */
export function maskPassword(text: string): string {
  return text.replace(passwordLine, "$1********");
}

/**
 * Throws `bad_path` for a path that must not be written: the name of a protected file, whether or not it exists, or
 * another name of one.
 */
export function assertWritable(known: Protected, names: readonly string[], there?: Identity): void {
  const path = names.join("/");
  const isKeptName = [propertiesPath, configName, forwardingPath].includes(path);
  const isKeptFile =
    there && [known.properties, known.forwarding].some((one) => one && isSameFile(one, there));
  if (!isKeptName && !isKeptFile) return;
  throw new WorldFault(
    "bad_path",
    `${path} is managed by the platform: server.properties, config and config/paper-global.yml can't be written.`,
    { entry: path.toWellFormed() },
  );
}
