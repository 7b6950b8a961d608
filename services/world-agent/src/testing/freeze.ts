// Stops a run before its n-th change of the file system, for good: that call and all after it never come back. What is on
// disk is then what kill -9 at that moment leaves, without a process for each of hundreds of moments. Every call that
// makes, changes, moves or removes something counts, wherever it is made, so no step can be forgotten.

import { AsyncLocalStorage } from "node:async_hooks";
import fs from "node:fs";
import promises, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

type Run = { last: number; count: number; isFrozen: boolean; opened: FileHandle[]; freeze: () => void };

const runs = new AsyncLocalStorage<Run>();

type Frozen<Value> = { changes: number; value: Value | undefined };

/** Runs something up to its change `last`. `value` is undefined when it was stopped there. */
export async function runFrozenAt<Value>(last: number, act: () => Promise<Value>): Promise<Frozen<Value>> {
  const { promise: frozen, resolve: freeze } = Promise.withResolvers<undefined>();
  const run: Run = { last, count: 0, isFrozen: false, opened: [], freeze: () => freeze(undefined) };
  const ended = runs.run(run, act);
  ended.catch(() => undefined);
  const value = await Promise.race([ended, frozen]);
  if (run.isFrozen) for (const file of run.opened) await file.close().catch(() => undefined);
  return { changes: run.count, value: run.isFrozen ? undefined : value };
}

function isStopped(): boolean {
  const run = runs.getStore();
  if (!run) return false;
  run.count += 1;
  if (run.count >= run.last && !run.isFrozen) {
    run.isFrozen = true;
    run.freeze();
  }
  return run.isFrozen;
}

type Call = (...args: unknown[]) => unknown;
type Kind = { isSync: boolean; counts?: (args: unknown[]) => boolean };

function counted(owner: object, name: string, { isSync, counts = () => true }: Kind): void {
  const calls = owner as Record<string, Call>;
  const call = calls[name];
  if (!call) throw new Error(`there is no ${name}`);
  calls[name] = function (this: unknown, ...args: unknown[]) {
    if (!counts(args) || !isStopped()) return call.apply(this, args);
    if (isSync) throw new Error("stopped");
    return new Promise(() => undefined);
  };
}

const makes = ([, flags]: unknown[]) => typeof flags === "number" && (flags & fs.constants.O_CREAT) !== 0;

const open = promises.open;
promises.open = async (...args: Parameters<typeof open>) => {
  const file = await open(...args);
  runs.getStore()?.opened.push(file);
  return file;
};
counted(promises, "open", { isSync: false, counts: makes });
for (const name of ["rename", "link", "unlink", "mkdir", "rmdir", "copyFile"])
  counted(promises, name, { isSync: false });
counted(fs, "openSync", { isSync: true, counts: makes });
for (const name of ["writeSync", "copyFileSync", "fchmodSync", "futimesSync"])
  counted(fs, name, { isSync: true });
const { fsync } = fs;
const sync = (fd: number, done: (error: NodeJS.ErrnoException | null) => void) => {
  if (!isStopped()) fsync(fd, done);
};
fs.fsync = sync as typeof fs.fsync;
const probe = await open("/dev/null");
const handle = Object.getPrototypeOf(probe) as object;
for (const name of ["write", "writeFile", "sync", "chmod", "utimes"])
  counted(handle, name, { isSync: false });
await probe.close();
syncBuiltinESMExports();
