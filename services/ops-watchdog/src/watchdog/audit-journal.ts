// Audit entries that no crash loses, of changes of the watchdog's file (docs/reference/alerts.md#audit). An entry is a file
// of its own beside that file, since silences work while every database is down: it is written before the change, renamed
// after it where nobody can take it over yet, and deleted once the outbox has it. A sweep does that for processes that died.

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
  /** The change was made: hands its entry on, or leaves it for the sweep, which then knows. */
  settle: (entry: AuditEntry) => Promise<void>;
  /** The change was not made. */
  drop: (entry: AuditEntry) => Promise<void>;
  /** Hands on what was left: of changes that were made, and with the outcome `unknown` what is older. Resolves with their number. */
  sweep: (ageMs: number) => Promise<number>;
};

type Options = {
  /** The folder of the state. */
  dir: string;
  /** That of its copy, in memory that others share: written while the first can't be. */
  copyDir: string;
  /** Stores the entry for good; it may come again, with the same id. Commands of the host leave that to the service. */
  publish: ((entry: AuditEntry) => Promise<void>) | undefined;
};

const folder = "audits";
const shape = /^([\w-]{1,64})(\.made)?\.json$/;

export function createAuditJournal({ dir: stateDir, copyDir, publish }: Options): AuditJournal {
  const folders = [join(stateDir, folder), join(copyDir, folder)];
  const remove = async (id: string) => {
    for (const dir of folders) await rm(join(dir, `${id}.json`), { force: true });
  };
  const markAsMade = async (id: string) => {
    for (const dir of folders)
      await rename(join(dir, `${id}.json`), join(dir, `${id}.made.json`)).catch(() => undefined);
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
      const isHandedOn = await publish?.(entry).then(
        () => true,
        () => false,
      );
      if (isHandedOn) await remove(entry.id);
      else await markAsMade(entry.id);
    },
    drop: ({ id }) => remove(id),
    sweep: async (ageMs) => {
      let handed = 0;
      const readable = (await isPrivate(copyDir)) ? folders : folders.slice(0, 1);
      for (const { path, isMade } of await listLeft(readable, ageMs)) {
        const entry = await read(path);
        if (entry) {
          const payload = isMade ? entry.payload : { ...entry.payload, outcome: "unknown" };
          await publish?.({ ...entry, payload });
        }
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

type Left = { path: string; isMade: boolean };

/** Entries of changes that were made, and those of an age at which no change still goes on. */
async function listLeft(folders: readonly string[], ageMs: number): Promise<Left[]> {
  const before = Date.now() - ageMs;
  const found: Left[] = [];
  for (const dir of folders) {
    const names: string[] = await readdir(dir).catch(() => []);
    for (const name of names) {
      const path = join(dir, name);
      const [isEntry, , made] = shape.exec(name) ?? [];
      const about = await stat(path).catch(() => undefined);
      // The clock has whole milliseconds, the file has fractions of them.
      if (about === undefined || (made === undefined && Math.floor(about.mtimeMs) > before)) continue;
      // A torn file is of an entry whose change was never begun.
      if (isEntry) found.push({ path, isMade: made !== undefined });
      else await rm(path, { force: true });
    }
  }
  return found;
}

/** Undefined when there is no entry in it. Throws when it can't be read: it stays, and the log says why. */
async function read(path: string): Promise<AuditEntry | undefined> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    // Another replica was faster.
    if (error.code === "ENOENT") return "";
    throw error;
  });
  try {
    return AuditEntry.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** No request runs for so long. */
const abandonedMs = 60_000;

/** Hands on what dead processes left, now and then, until it is closed. */
export function startSweep(
  journal: Pick<AuditJournal, "sweep">,
  { everyMs, log }: { everyMs: number; log: Pick<Logger, "warn"> },
): { close: () => Promise<void> } {
  return startLoop(() => journal.sweep(abandonedMs), {
    everyMs,
    onError: (error) => log.warn({ error: error.message }, "handing on audit entries failed; retrying"),
  });
}
