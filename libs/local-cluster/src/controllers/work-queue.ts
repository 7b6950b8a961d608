import { setImmediate as nextTurn } from "node:timers/promises";

export type WorkQueue = {
  add(key: string): void;
  /** Looks at the key again after the delay; the earliest of several wins. */
  addAfter(key: string, delayMs: number): void;
  /** Takes no more keys and resolves when the pass in progress is over. */
  close(): Promise<void>;
};

export type WorkQueueDeps = {
  /** Brings one key to its wanted state. A number asks for another look after so many milliseconds. */
  reconcile(key: string): Promise<number | undefined>;
  onError(key: string, error: unknown): void;
  firstRetryMs?: number;
  maxRetryMs?: number;
};

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** One key at a time, each at most once in line; a failing key waits longer after every failure. */
export function createWorkQueue(deps: WorkQueueDeps): WorkQueue {
  const { firstRetryMs = 20, maxRetryMs = 30_000 } = deps;
  const line = new Set<string>();
  const timers = new Map<string, { at: number; timer: NodeJS.Timeout }>();
  const failures = new Map<string, number>();
  let closed = false;
  let running: Promise<void> | undefined;

  const addAfter = (key: string, delayMs: number): void => {
    const at = Date.now() + delayMs;
    const known = timers.get(key);
    if (closed || (known !== undefined && known.at <= at)) return;
    clearTimeout(known?.timer);
    const timer = setTimeout(
      () => {
        timers.delete(key);
        add(key);
      },
      Math.min(Math.max(delayMs, 0), LONGEST_TIMER_MS),
    );
    timers.set(key, { at, timer });
  };
  const pass = async (key: string): Promise<void> => {
    try {
      const again = await deps.reconcile(key);
      failures.delete(key);
      if (again !== undefined) addAfter(key, again);
    } catch (error) {
      const count = failures.get(key) ?? 0;
      failures.set(key, count + 1);
      // A lost race is the normal case of optimistic concurrency; only what repeats is worth a word.
      if (count >= 3) deps.onError(key, error);
      addAfter(key, Math.min(firstRetryMs * 2 ** Math.min(count, 20), maxRetryMs));
    }
  };
  const drain = async (): Promise<void> => {
    await nextTurn();
    for (const key of line) {
      if (closed) break;
      line.delete(key);
      await pass(key);
      await nextTurn();
    }
    running = undefined;
    if (!closed && line.size > 0) running = drain();
  };
  const add = (key: string): void => {
    if (closed) return;
    line.add(key);
    running ??= drain();
  };
  return {
    add,
    addAfter,
    close: async () => {
      closed = true;
      for (const { timer } of timers.values()) clearTimeout(timer);
      timers.clear();
      await running;
    },
  };
}
