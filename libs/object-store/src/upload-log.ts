// Remembers multipart uploads, so that another process can go on with one that was cut.

import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";

export type UploadRecord = {
  key: string;
  uploadId: string;
  /** Written into the metadata of the object: shows that it is of this upload. */
  marker: string;
  fingerprint: string;
  sizeBytes: number;
  partBytes: number;
  /** State of the body. */
  state: string;
  /** By number, from 1. The digest is written before the part is sent, the tag once the store has it. */
  parts: Record<number, { sha256: string; etag?: string }>;
};

export type UploadLog = {
  load: (key: string) => Promise<UploadRecord | undefined>;
  /** Returns when a power cut would not lose it. */
  save: (record: UploadRecord) => Promise<void>;
  remove: (key: string) => Promise<void>;
  uploadIds: () => Promise<Set<string>>;
};

/** Forgets everything with the process. */
export function memoryUploadLog(): UploadLog {
  const records = new Map<string, UploadRecord>();
  return {
    load: async (key) => structuredClone(records.get(key)),
    save: async (record) => void records.set(record.key, structuredClone(record)),
    remove: async (key) => void records.delete(key),
    uploadIds: async () => new Set([...records.values()].map(({ uploadId }) => uploadId)),
  };
}

/** A file for each upload. A file that cannot be read is as if it was not there. */
export function folderUploadLog(dir: string): UploadLog {
  const pathOf = (key: string) => join(dir, `${createHash("sha256").update(key).digest("hex")}.json`);
  // Parts are sent at the same time: one write after the other, so that an older state never replaces a newer one.
  let writing: Promise<void> = Promise.resolve();
  const write = async (record: UploadRecord) => {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const temporary = join(dir, `${randomUUID()}.partial`);
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(JSON.stringify(record));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, pathOf(record.key));
  };
  return {
    load: (key) => readRecord(pathOf(key)),
    save(record) {
      const saved = writing.then(() => write(record));
      writing = saved.catch(() => {});
      return saved;
    },
    remove: (key) => rm(pathOf(key), { force: true }),
    async uploadIds() {
      const names = await readdir(dir).catch(() => []);
      const records = await Promise.all(
        names.filter((name) => name.endsWith(".json")).map((name) => readRecord(join(dir, name))),
      );
      return new Set(records.flatMap((record) => (record ? [record.uploadId] : [])));
    },
  };
}

async function readRecord(path: string): Promise<UploadRecord | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as UploadRecord;
  } catch {
    return undefined;
  }
}
