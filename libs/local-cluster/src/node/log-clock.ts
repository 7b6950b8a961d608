import {
  appendFileSync,
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  watch,
  writeFileSync,
  writeSync,
} from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import type { LogExtent } from "./log-file.ts";
import { openTimes, readBase, sizeOf } from "./log-file.ts";

/**
 * Lines found by one check share their time. The first line is found at once; a busy log is checked once in this
 * time.
 */
const PAUSE_MS = 20;
const ROTATE_BYTES = 10 * 1024 * 1024;
/** A log is truncated while nothing is written, so that no write is lost; one this long is truncated in any case. */
const FORCE_BYTES = 4 * ROTATE_BYTES;
const QUIET_MS = 200;

export type LogClock = {
  extent(): LogExtent;
  /** Resolves at the next change of the extent or at once when `known` is out of date. */
  changed(known: LogExtent, signal: AbortSignal): Promise<void>;
  /** Records the last bytes and closes the log for followers. */
  finish(): Promise<void>;
};

type State = { end: number; base: number; oldBase: number; open: boolean; lastMs: number };

/** Checks are at least one pause apart, so that the times of lines keep their order. */
function stampMs(state: State): number {
  state.lastMs = Math.max(Date.now(), state.lastMs + PAUSE_MS);
  return state.lastMs;
}

/** Copies what was written during the copy, then truncates the file: only a write in that instant could be lost. */
function cut(dir: string, state: State): void {
  const source = openSync(join(dir, "log"), "r+");
  const target = openSync(join(dir, "log.next"), "r+");
  try {
    const chunk = Buffer.alloc(65_536);
    let copied = fstatSync(target).size;
    while (fstatSync(source).size > copied) {
      const bytes = readSync(source, chunk, 0, chunk.length, copied);
      copied += writeSync(target, chunk, 0, bytes, copied);
    }
    renameSync(join(dir, "log.next"), join(dir, "log.1"));
    ftruncateSync(source, 0);
    state.oldBase = state.base;
    state.base += copied;
    state.end = Math.max(state.end, state.base);
  } finally {
    closeSync(source);
    closeSync(target);
  }
}

async function rotate(dir: string, state: State): Promise<void> {
  await copyFile(join(dir, "log"), join(dir, "log.next"));
  cut(dir, state);
  const kept = openTimes(dir)
    .read()
    .filter(({ end }) => end > state.oldBase);
  const lines = [...kept, { end: state.end, atMs: stampMs(state) }].map(
    ({ end, atMs }) => `${end} ${atMs}\n`,
  );
  replace(dir, "times", lines.join(""));
  replace(dir, "base", `${state.base} ${state.oldBase}\n`);
}

function replace(dir: string, name: string, text: string): void {
  writeFileSync(join(dir, `${name}.next`), text);
  renameSync(join(dir, `${name}.next`), join(dir, name));
}

async function look(dir: string, state: State): Promise<boolean> {
  const size = await sizeOf(join(dir, "log"));
  // A restart during a rotation: the file was truncated and the index not updated.
  if (state.base + size < state.end) {
    state.oldBase = state.base;
    state.base = state.end;
    replace(dir, "base", `${state.base} ${state.oldBase}\n`);
  }
  const end = state.base + size;
  if (end === state.end) {
    if (size > ROTATE_BYTES) await rotate(dir, state);
    return false;
  }
  state.end = end;
  appendFileSync(join(dir, "times"), `${end} ${stampMs(state)}\n`);
  if (size > FORCE_BYTES) await rotate(dir, state);
  return true;
}

/** Records when the bytes of a run's log appear. The program writes to the file itself, so nothing here can block it. */
export function startLogClock(dir: string, onError: (error: unknown) => void): LogClock {
  const { end, atMs: lastMs } = openTimes(dir).read().at(-1) ?? { end: 0, atMs: 0 };
  const state: State = { ...readBase(dir), end, open: true, lastMs };
  let wakeups: (() => void)[] = [];
  let looking: Promise<void> | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const wake = () => {
    const waiting = wakeups;
    wakeups = [];
    for (const one of waiting) one();
  };
  const lookNow = (): Promise<void> => {
    lookedAt = performance.now();
    looking ??= look(dir, state)
      .then((grown) => {
        if (grown) wake();
      }, onError)
      .finally(() => {
        looking = undefined;
        if (state.open && state.end - state.base > ROTATE_BYTES) soon(QUIET_MS);
      });
    return looking;
  };
  const soon = (delayMs: number) => {
    timer ??= setTimeout(() => {
      timer = undefined;
      // A check under way may have read the size before the change that asked for this one.
      if (looking === undefined) void lookNow();
      else soon(PAUSE_MS);
    }, delayMs);
  };
  const onChange = () => {
    const waitMs = lookedAt + PAUSE_MS - performance.now();
    if (looking !== undefined) soon(PAUSE_MS);
    else if (waitMs > 0) soon(waitMs);
    else if (timer === undefined) void lookNow();
  };
  const watcher = watch(join(dir, "log"), onChange);
  watcher.on("error", onError);
  onChange();
  return {
    extent: () => ({ end: state.end, open: state.open }),
    changed: async (known, signal) => {
      if (known.end !== state.end || known.open !== state.open || signal.aborted) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      wakeups.push(resolve);
      const onAbort = () => {
        // An idle log would otherwise keep a reference to everyone who ever waited for it.
        wakeups = wakeups.filter((one) => one !== resolve);
        resolve();
      };
      signal.addEventListener("abort", onAbort);
      await promise;
      signal.removeEventListener("abort", onAbort);
    },
    finish: async () => {
      watcher.close();
      await looking;
      await lookNow();
      state.open = false;
      clearTimeout(timer);
      wake();
    },
  };
}
