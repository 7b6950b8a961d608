// Audit entries that no crash loses, of changes of the watchdog's file (docs/reference/alerts.md#audit). An entry is a file
// of its own beside that file, since silences work while every database is down: it is written before the change, and
// deleted once the outbox has it, which the next sweep does for a process that was killed in between.

import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { AuditEntry, Fault, isFault } from "@svc/proto";
import { startLoop } from "@svc/service/loop";
import type { Logger } from "@svc/telemetry";
import { isPrivate, writeSynced } from "./state-file.ts";

export type AuditJournal = {
  /** Makes a change between its admission and its settling. */
  around: <T>(entry: AuditEntry, change: () => Promise<T>) => Promise<T>;

  /** Before the change. Throws when neither folder can be written. */
  admit: (entry: AuditEntry) => Promise<void>;
  /** The change was made: hands its entry on. It stays for the sweep when that fails. */
  settle: (entry: AuditEntry) => Promise<void>;
  /** The change was not made. */
  drop: (entry: AuditEntry) => Promise<void>;
  /** Hands on what dead processes left, with the outcome `unknown`; resolves with their number. */
  sweep: (ageMs: number) => Promise<number>;
};

type Options = {
  /** The folder of the state. */
  dir: string;
  /** That of its copy, in memory that others share: written while the first can't be. */
  copyDir: string;
  /** Stores the entry for good; it may come again, with the same id. */
  publish: (entry: AuditEntry) => Promise<void>;
};

const folder = "audits";
const shape = /^([\w-]{1,64})\.json$/;

export function createAuditJournal({ dir: stateDir, copyDir, publish }: Options): AuditJournal {
  const folders = [join(stateDir, folder), join(copyDir, folder)];
  const remove = async (id: string) => {
    for (const dir of folders) await rm(join(dir, `${id}.json`), { force: true });
  };
  const journal: Omit<AuditJournal, "around"> = {
    admit: async (entry) => {
      const [dir = "", copy = ""] = folders;
      await write(dir, entry).catch(async () => {
        await mkdir(copyDir, { recursive: true, mode: 0o700 });
        if (!(await isPrivate(copyDir))) throw new Error(`${copyDir} belongs to somebody else`);
        await write(copy, entry);
      });
    },
    settle: async (entry) => {
      await publish(entry);
      await remove(entry.id);
    },
    drop: ({ id }) => remove(id),
    sweep: async (ageMs) => {
      let handed = 0;
      const readable = (await isPrivate(copyDir)) ? folders : folders.slice(0, 1);
      for (const path of await listOlder(readable, ageMs)) {
        const entry = await read(path);
        if (entry) await publish({ ...entry, payload: { ...entry.payload, outcome: "unknown" } });
        await rm(path, { force: true });
        handed += 1;
      }
      return handed;
    },
  };
  return { ...journal, around: (entry, change) => around(journal, entry, change) };
}

type Steps = Pick<AuditJournal, "admit" | "settle" | "drop">;

async function around<T>(journal: Steps, entry: AuditEntry, change: () => Promise<T>): Promise<T> {
  await journal.admit(entry).catch((cause: unknown) => {
    throw new Fault("unavailable", {
      message: "The watchdog cannot save its state; its log says why.",
      cause,
    });
  });
  let result: T;
  try {
    result = await change();
  } catch (error) {
    // A refusal changed nothing. After any other error nobody knows, and the sweep says so.
    if (isFault(error)) await journal.drop(entry).catch(() => {});
    throw error;
  }
  // Without the database the sweep hands the entry on later.
  await journal.settle(entry).catch(() => {});
  return result;
}

/** Written and renamed as a whole, on the disk when it resolves. */
async function write(dir: string, entry: AuditEntry): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, `${entry.id}.json`);
  await writeSynced(`${path}.partial`, JSON.stringify(entry));
  await rename(`${path}.partial`, path);
}

async function listOlder(folders: readonly string[], ageMs: number): Promise<string[]> {
  const before = Date.now() - ageMs;
  const found: string[] = [];
  for (const dir of folders) {
    const names: string[] = await readdir(dir).catch(() => []);
    for (const path of names.map((name) => join(dir, name))) {
      const about = await stat(path).catch(() => undefined);
      if (about === undefined || about.mtimeMs > before) continue;
      // A torn file is of an entry whose change was never begun.
      if (shape.test(path.slice(dir.length + 1))) found.push(path);
      else await rm(path, { force: true });
    }
  }
  return found;
}

async function read(path: string): Promise<AuditEntry | undefined> {
  try {
    return AuditEntry.parse(JSON.parse(await readFile(path, "utf8")));
  } catch {
    return undefined;
  }
}

const sweepMs = 30_000;
/** No request runs for so long. */
const abandonedMs = 60_000;

/** Hands on what dead processes left, now and then, until it is closed. */
export function startSweep(
  journal: Pick<AuditJournal, "sweep">,
  log: Pick<Logger, "warn">,
): { close: () => Promise<void> } {
  return startLoop(() => journal.sweep(abandonedMs), {
    everyMs: sweepMs,
    onError: (error) => log.warn({ error: error.message }, "handing on audit entries failed; retrying"),
  });
}
