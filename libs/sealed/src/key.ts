// Keys of sealed objects and their files (docs/reference/off-site.md#keys).

import { createHash, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { open, readFile, unlink } from "node:fs/promises";
import { SealedError } from "./error.ts";

const keyBytes = 32;
const label = "svc off-site key";

/** A key and its public name, 16 hexadecimal digits. The secret is not shown when the key is printed. */
export type SealKey = { readonly id: string; readonly secret: KeyObject };

/** A new random key. */
export function generateKey(): SealKey {
  return keyOf(randomBytes(keyBytes));
}

/** A key of its 32 bytes. */
export function keyOf(bytes: Uint8Array): SealKey {
  if (bytes.length !== keyBytes)
    throw new SealedError("key", `a key has ${keyBytes} bytes, not ${bytes.length}`);
  const id = createHash("sha256").update(`${label}\0`).update(bytes).digest("hex").slice(0, 16);
  return { id, secret: createSecretKey(bytes) };
}

/** The 32 bytes of a key, for writing it down. */
export function bytesOf(key: SealKey): Buffer {
  return key.secret.export();
}

/** Reads standard base64 of 32 bytes. The message of the error never has the text. */
export function parseKey(text: string): SealKey {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length !== keyBytes || bytes.toString("base64") !== text)
    throw new SealedError("key", "a key is 32 bytes in standard base64: 44 characters, the last one =");
  return keyOf(bytes);
}

/**
 * Keys for reading and the one for writing. An object is always sealed with the active key; the older ones stay until
 * nothing in the bucket needs them.
 */
export type KeyRing = { readonly active: SealKey; readonly older: readonly SealKey[] };

/** All keys, the active one first. */
export const keysOf = (ring: KeyRing): readonly SealKey[] => [ring.active, ...ring.older];

export function findKey(ring: KeyRing, id: string): SealKey | undefined {
  return keysOf(ring).find((key) => key.id === id);
}

/** Reads a ring: a key on each line, the active one first; empty lines and those that begin with # do not count. */
export function parseRing(text: string): KeyRing {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const keys = lines.filter((line) => line !== "" && !line.startsWith("#")).map(parseKey);
  const [active, ...older] = keys;
  if (!active) throw new SealedError("key", "there is no key");
  const ids = new Set(keys.map(({ id }) => id));
  if (ids.size !== keys.length) throw new SealedError("key", "one key is given twice");
  return { active, older };
}

/** The text that `parseRing` reads. It has the secrets. */
export function formatRing(ring: KeyRing): string {
  const lines = keysOf(ring).map((key) => `# key id ${key.id}\n${bytesOf(key).toString("base64")}\n`);
  return lines.join("");
}

/**
 * Reads a file of keys. It is refused when every user of the machine may read it; a group may, because a Kubernetes
 * Secret with an `fsGroup` is mounted like that. Errors of the system (`ENOENT`) are passed on.
 */
export async function readKeyFile(path: string): Promise<KeyRing> {
  const file = await open(path, "r");
  try {
    const { mode } = await file.stat();
    if ((mode & 0o007) !== 0)
      throw new SealedError("key", `${path} can be read by other users; run chmod 600 ${path}`);
    const text = await readFile(file, "utf8");
    try {
      return parseRing(text);
    } catch (error) {
      throw new SealedError("key", `${path}: ${(error as Error).message}`);
    }
  } finally {
    await file.close();
  }
}

/** Writes a new file of keys, 0600, to the disk. Fails with `EEXIST` rather than overwrite one. */
export async function writeKeyFile(path: string, ring: KeyRing): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(formatRing(ring));
    await file.sync();
  } catch (error) {
    // Half a key file would be in the way of the next attempt.
    await unlink(path).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
}
