// The read-only lease (docs/reference/registry.md#collection). It is kept in a file, so that a gate that is restarted in
// a sweep stays read-only. A lease ends when it is ended, or when it has run out and the process that sweeps is gone.

import { randomUUID } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { findProcess, isAlive } from "./process.ts";

const Record = z.strictObject({
  id: z.string(),
  expires_at: z.number(),
  /** The process that deletes blobs; absent before it runs. */
  sweeper: z.strictObject({ pid: z.number().int().positive(), started: z.string() }).optional(),
});
type Record = z.output<typeof Record>;

export type LeaseView = { id: string; expires_at: string };
type Refused = { reason: string; retryAfterSeconds: number };

export type Lease = {
  isReadOnly: () => boolean;
  /** Call it when a write is let through; the result tells its end. */
  beginWrite: () => () => void;
  acquire: () => LeaseView | Refused;
  /** Undefined when the lease has ended. */
  renew: (id: string, sweeper: number | undefined) => LeaseView | undefined;
  /** False when there is no such lease. */
  end: (id: string) => boolean;
};

type Options = {
  file: string;
  /** Time without a write before a lease is given. */
  quietMs: number;
  ttlMs: number;
  now: () => number;
  warn: (message: string) => void;
};

/** The state lives in this process; every change is on disk before it counts. */
export function createLease(options: Options): Lease {
  const { file, quietMs, ttlMs, now } = options;
  let current = readRecord(options);
  let writing = 0;
  // Writes of the process before this one are not known.
  let lastWriteAt = now();
  const store = (record: Record | undefined) => {
    writeRecord(file, record);
    current = record;
  };
  const isHeld = (record: Record) =>
    now() < record.expires_at || (record.sweeper !== undefined && isAlive(record.sweeper));
  const isReadOnly = () => {
    if (!current) return false;
    if (isHeld(current)) return true;
    store(undefined);
    return false;
  };
  return {
    isReadOnly,
    beginWrite: () => {
      writing += 1;
      return () => {
        writing -= 1;
        lastWriteAt = now();
      };
    },
    acquire: () => {
      if (isReadOnly()) return refused("another collection holds the lease", ttlMs);
      if (writing > 0) return refused("a push is under way", quietMs);
      const quietFor = now() - lastWriteAt;
      if (quietFor < quietMs) return refused("the last push is too recent", quietMs - quietFor);
      const record = { id: randomUUID(), expires_at: now() + ttlMs };
      store(record);
      return view(record);
    },
    renew: (id, pid) => {
      if (!isReadOnly() || current?.id !== id) return undefined;
      const sweeper = pid === undefined ? current.sweeper : findProcess(pid);
      const record = { id, expires_at: now() + ttlMs, ...(sweeper && { sweeper }) };
      store(record);
      return view(record);
    },
    end: (id) => {
      if (current?.id !== id) return false;
      store(undefined);
      return true;
    },
  };
}

const refused = (reason: string, ms: number): Refused => ({
  reason,
  retryAfterSeconds: Math.max(1, Math.ceil(ms / 1000)),
});

const view = ({ id, expires_at }: Record): LeaseView => ({
  id,
  expires_at: new Date(expires_at).toISOString(),
});

/** A file that can't be read says nothing about the sweep, so it counts as a lease of full length. */
function readRecord({ file, ttlMs, now, warn }: Options): Record | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    return Record.parse(JSON.parse(text));
  } catch {
    warn(`${file} is damaged; the registry is read-only for ${ttlMs / 1000} s`);
    return { id: randomUUID(), expires_at: now() + ttlMs };
  }
}

function writeRecord(file: string, record: Record | undefined): void {
  if (!record) {
    rmSync(file, { force: true });
    return;
  }
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.new`;
  const handle = openSync(temporary, "w", 0o600);
  try {
    writeSync(handle, JSON.stringify(record));
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(temporary, file);
}
