// Commands on keys (docs/reference/off-site.md#keys). They need no database.

import { open, rename, stat } from "node:fs/promises";
import {
  compareKeys,
  findKey,
  formatRing,
  formatSheet,
  generateKey,
  type KeyFit,
  type KeyRing,
  missingKeys,
  parseRecordedKeys,
  parseSheet,
  readKeyFile,
  type SealKey,
  writeKeyFile,
} from "@svc/sealed";
import type { OffsiteSettings } from "../config.ts";
import { OffsiteSettingsError, openBucket, readKeys } from "./access.ts";
import type { KeyCommand } from "./key-command.ts";

type Host = { settings: OffsiteSettings; env: Readonly<Record<string, string | undefined>> };

export async function runKeyCommand(host: Host, command: KeyCommand): Promise<unknown> {
  switch (command.do) {
    case "offsite-keygen":
      return command.rotate ? rotate(host, command) : generate(host, command);
    case "offsite-check-key":
      return checkKey(host);
    case "offsite-recovery-sheet":
      return showSheet(host, command.id);
    case "offsite-restore-key":
      return restoreKey(host, command);
  }
}

async function generate({ settings, env }: Host, { out }: { out?: string | undefined }) {
  if (out === undefined) assertFileCounts({ settings, env });
  const file = out ?? settings.key_file;
  const key = generateKey();
  await writeNew(file, { active: key, older: [] });
  return { path: file, id: key.id, older: [], sheet: sheetOf(settings, key), done: true };
}

async function rotate({ settings, env }: Host, { out, apply }: { out?: string | undefined; apply: boolean }) {
  if (out === undefined) assertFileCounts({ settings, env });
  const before = await readKeys(settings, env);
  const older = [before.active, ...before.older];
  const file = out ?? settings.key_file;
  const about = { path: file, older: older.map(({ id }) => id) };
  if (!apply) return { ...about, done: false };
  const key = generateKey();
  const ring = { active: key, older };
  await (out === undefined ? replaceFile(file, ring) : writeNew(file, ring));
  return { ...about, id: key.id, sheet: sheetOf(settings, key), done: true };
}

/** A file that nobody reads would look like the key. */
function assertFileCounts({ settings, env }: Host): void {
  const name = settings.key_ref;
  const set = [name, `${name}_FILE`].find((one) => env[one]);
  if (set !== undefined)
    throw new OffsiteSettingsError(
      `${set} is set and counts instead of ${settings.key_file}; give --out FILE`,
    );
  if (settings.key_file === "") throw new OffsiteSettingsError("offsite.key_file is empty; give --out FILE");
}

async function writeNew(file: string, ring: KeyRing): Promise<void> {
  try {
    await writeKeyFile(file, ring);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT")
      throw new OffsiteSettingsError(`the folder of ${file} does not exist; make it, or give --out FILE`);
    if (code !== "EEXIST") throw error;
    throw new OffsiteSettingsError(
      `${file} exists and is never overwritten: without its keys the copies that were made with them are lost`,
    );
  }
}

/** All or nothing, and on the disk before it counts. */
async function replaceFile(file: string, ring: KeyRing): Promise<void> {
  const temporary = `${file}.new`;
  const { uid, gid, mode } = await stat(file);
  const handle = await open(temporary, "w", 0o600);
  try {
    await handle.chmod(mode & 0o640);
    await handle.chown(uid, gid);
    await handle.writeFile(formatRing(ring));
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
}

function sheetOf({ bucket, endpoint, region, prefix }: OffsiteSettings, key: SealKey): string {
  const store = endpoint === "" ? `AWS, ${region}` : endpoint;
  const place =
    bucket === "" ? "not set yet" : `${bucket}${prefix === "" ? "" : `, prefix ${prefix}`} at ${store}`;
  return formatSheet(key, [`Bucket: ${place}`]);
}

async function checkKey({ settings, env }: Host) {
  const ring = await readKeys(settings, env);
  const bucket = openBucket(settings, env);
  try {
    const found = await bucket.get("svc-key-id", { to: 65_535 });
    const chunks: Buffer[] = [];
    if (found) for await (const chunk of found.bytes) chunks.push(chunk);
    const recorded = parseRecordedKeys(Buffer.concat(chunks).toString());
    if (found && !recorded)
      throw new OffsiteSettingsError("svc-key-id in the bucket does not name a key: somebody changed it");
    const fit: KeyFit = compareKeys(ring, recorded);
    return {
      fit,
      active: ring.active.id,
      older: ring.older.map(({ id }) => id),
      recorded: recorded ?? [],
      missing: missingKeys(ring, recorded),
    };
  } finally {
    bucket.close();
  }
}

async function showSheet({ settings, env }: Host, id: string | undefined) {
  const ring = await readKeys(settings, env);
  const key = id === undefined ? ring.active : findKey(ring, id);
  if (!key) throw new OffsiteSettingsError(`there is no key ${id}; \`svc offsite check-key\` names the keys`);
  return { id: key.id, sheet: sheetOf(settings, key) };
}

type Restore = { sheet: string; out?: string | undefined; add: boolean };

async function restoreKey({ settings, env }: Host, { sheet, out, add }: Restore) {
  const key = parseSheet(sheet);
  if (out === undefined) assertFileCounts({ settings, env });
  const file = out ?? settings.key_file;
  if (!add) {
    await writeNew(file, { active: key, older: [] });
    return { path: file, id: key.id, older: [] };
  }
  const before = await readKeyFile(file);
  const isKnown = findKey(before, key.id) !== undefined;
  const ring = { ...before, older: isKnown ? before.older : [...before.older, key] };
  if (!isKnown) await replaceFile(file, ring);
  return { path: file, id: ring.active.id, older: ring.older.map(({ id }) => id) };
}
