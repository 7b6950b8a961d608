import { createDelayTimers } from "./delay-timers.ts";

export type WorkQueueOptions = {
  /** Keys handled at the same time; one key never runs twice at once. */
  concurrency: number;
  /** Does the work of one key; resolves with the milliseconds after which it wants to run again, if at all. */
  handle: (key: string, signal: AbortSignal) => Promise<number | undefined>;
  /** Told of a failed run; the key runs again after its back-off. */
  onError: (key: string, error: unknown, retryMs: number) => void;
  /** Wait after the first failure in a row, doubling up to the highest; 500 ms and 60 s unless given. */
  firstBackOffMs?: number;
  highestBackOffMs?: number;
};

export type WorkQueue = {
  /** Runs the key soon; a key that runs now runs once more afterwards. */
  add: (key: string) => void;
  /** Runs the key after a while; it replaces an earlier wish for later. */
  addAfter: (key: string, delayMs: number) => void;
  /** Forgets a key that waits and its failures. */
  forget: (key: string) => void;
  /** Keys that wait for their turn now. */
  readonly depth: number;
  readonly running: number;
  /** Takes nothing more and waits for what runs; `signal` of the handlers aborts. */
  close: () => Promise<void>;
};

/** Keyed work with one timer for all delays, so that ten thousand waiting keys cost nothing but their memory. */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const waiting = new Set<string>();
  const running = new Map<string, Promise<void>>();
  const again = new Set<string>();
  const failures = new Map<string, number>();
  const timers = createDelayTimers((key) => add(key));
  const closing = new AbortController();
  let isScheduled = false;

  const add = (key: string) => {
    if (closing.signal.aborted) return;
    timers.clear(key);
    if (running.has(key)) again.add(key);
    else waiting.add(key);
    schedule();
  };
  const addAfter = (key: string, delayMs: number) => {
    if (closing.signal.aborted || waiting.has(key) || again.has(key)) return;
    if (delayMs <= 0) return add(key);
    timers.set(key, Date.now() + delayMs);
  };
  // One turn of the event loop collects what belongs together.
  const schedule = () => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      pump();
    });
  };
  const pump = () => {
    for (const key of waiting) {
      if (running.size >= options.concurrency || closing.signal.aborted) return;
      waiting.delete(key);
      running.set(key, run(key));
    }
  };
  const run = async (key: string) => {
    // Handlers start in a turn of their own, so that `running` has the key first.
    await Promise.resolve();
    let nextMs: number | undefined;
    try {
      nextMs = await options.handle(key, closing.signal);
      failures.delete(key);
    } catch (error) {
      nextMs = backOff(options, failures, key);
      options.onError(key, error, nextMs);
    }
    running.delete(key);
    if (again.delete(key)) add(key);
    else if (nextMs !== undefined) addAfter(key, nextMs);
    if (waiting.size > 0) schedule();
  };
  return {
    add,
    addAfter,
    forget: (key) => {
      waiting.delete(key);
      again.delete(key);
      failures.delete(key);
      timers.clear(key);
    },
    get depth() {
      return waiting.size;
    },
    get running() {
      return running.size;
    },
    close: async () => {
      closing.abort();
      waiting.clear();
      timers.close();
      await Promise.all(running.values());
    },
  };
}

function backOff(options: WorkQueueOptions, failures: Map<string, number>, key: string): number {
  const { firstBackOffMs = 500, highestBackOffMs = 60_000 } = options;
  const count = failures.get(key) ?? 0;
  failures.set(key, count + 1);
  return Math.min(highestBackOffMs, firstBackOffMs * 2 ** Math.min(count, 16));
}
