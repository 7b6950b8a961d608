// Files that hold secrets of the platform, found by what they are and not by what they are called, so that a hard
// link or another spelling does not get around it (interface.md 4.6.3, behaviour.md h.7).

import { WorldFault } from "../fault.ts";
import { type Folder, type Identity, isSameFile } from "./folder.ts";

export const propertiesName = "server.properties";
export const configName = "config";
export const forwardingName = "paper-global.yml";

export type Protected = {
  /** `server.properties`: read with its RCON password masked, never moved. */
  properties: Identity | undefined;
  /** `config`: never moved or removed. */
  config: Identity | undefined;
  /** `config/paper-global.yml`: holds the forwarding secret; never read, written, moved or sent. */
  forwarding: Identity | undefined;
};

/** Looks the protected files of a world up; what is not there needs no protection. */
export async function findProtected(root: Folder): Promise<Protected> {
  const properties = await root.find(propertiesName);
  const config = await root.find(configName);
  const found: Protected = { properties, config, forwarding: undefined };
  if (!config?.isDirectory()) return found;
  await using folder = await root.enter(configName);
  return { ...found, forwarding: await folder.find(forwardingName) };
}

/** True for the same file under whatever name. */
export function isForwarding(known: Protected, file: Identity): boolean {
  return known.forwarding !== undefined && isSameFile(known.forwarding, file);
}

export function isProperties(known: Protected, file: Identity): boolean {
  return known.properties !== undefined && isSameFile(known.properties, file);
}

/** Throws `bad_path` when something may not be moved or removed. */
export function assertMovable(known: Protected, file: Identity): void {
  const isKept = [known.properties, known.config, known.forwarding].some(
    (one) => one && isSameFile(one, file),
  );
  if (!isKept) return;
  throw new WorldFault(
    "bad_path",
    "server.properties, the config folder and config/paper-global.yml stay where they are; the platform needs them.",
  );
}

/** As java.util.Properties reads it: other separators, an escaped key, a value that goes on in the next line. */
const passwordLine =
  /^([ \t\f]*rcon\\?\.password(?:[ \t\f]*[=:][ \t\f]*|[ \t\f]+))((?:\\(?:\r\n|[\s\S])|[^\\\r\n])*)/gim;

/** The text of `server.properties` without the RCON password. */
export function maskPassword(text: string): string {
  return text.replace(passwordLine, "$1********");
}

/**
 * Throws `bad_path` when a file may not be put at a place: neither under the name of a protected file, whether it is
 * there or not, nor over one of them under another name.
 */
export function assertWritable(known: Protected, names: readonly string[], there?: Identity): void {
  const path = names.join("/");
  const isKeptName = [propertiesName, configName, `${configName}/${forwardingName}`].includes(path);
  const isKeptFile =
    there && [known.properties, known.forwarding].some((one) => one && isSameFile(one, there));
  if (!isKeptName && !isKeptFile) return;
  throw new WorldFault(
    "bad_path",
    `${path} is kept by the platform: server.properties, config and config/paper-global.yml are not written here.`,
    { entry: path.toWellFormed() },
  );
}
