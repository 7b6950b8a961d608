import { createDelayTimers } from "./delay-timers.ts";

type WorkQueueOptions = {
  /** Keys handled at the same time; one key never runs twice at once. */
  concurrency: number;
  /** Handles one key; resolves with the milliseconds until its next run, if it wants one. */
  handle: (key: string, signal: AbortSignal) => Promise<number | undefined>;
  /** Called after a failed run; the key runs again after its back-off. */
  onError: (key: string, error: unknown, retryMs: number) => void;
  /** Back-off after the first failure in a row, doubling up to the highest; 500 ms and 60 s by default. */
  firstBackOffMs?: number;
  highestBackOffMs?: number;
};

export type WorkQueue = {
  /** Runs the key soon; a running key runs once more afterwards. */
  add: (key: string) => void;
  /** Runs the key after a delay, which replaces an earlier one. */
  addAfter: (key: string, delayMs: number) => void;
  /** Drops a waiting key and its failures. */
  forget: (key: string) => void;
  /** Keys that are due and waiting. */
  readonly depth: number;
  readonly running: number;
  /**
   * True once every key that was added before the call has been handled since; false as soon as one of them fails, while
   * one that failed waits for its back-off, or after `withinMs`.
   */
  settled: (withinMs: number) => Promise<boolean>;
  /** Accepts nothing more, aborts the handlers' `signal` and waits for them. */
  close: () => Promise<void>;
};

/** Keyed work with one timer for all delays, so that ten thousand waiting keys cost only memory. */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const waiting = new Set<string>();
  const running = new Map<string, Promise<void>>();
  const again = new Set<string>();
  const failures = new Map<string, number>();
  const timers = createDelayTimers((key) => add(key));
  const closing = new AbortController();
  const settling = createSettling();
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
  // Batches all keys of one turn of the event loop.
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
    // Start the handler asynchronously, so that `running` has the key first.
    await Promise.resolve();
    const { nextMs, isHandled } = await attempt({ options, failures, signal: closing.signal }, key);
    running.delete(key);
    settling.ran(key, isHandled);
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
    settled: (withinMs) => {
      const runs = runsToCome({ waiting, running, again, failures });
      return closing.signal.aborted || !runs ? Promise.resolve(false) : settling.wait(runs, withinMs);
    },
    close: async () => {
      closing.abort();
      waiting.clear();
      timers.close();
      settling.close();
      await Promise.all(running.values());
    },
  };
}

type Attempting = { options: WorkQueueOptions; failures: Map<string, number>; signal: AbortSignal };
type Attempt = { nextMs: number | undefined; isHandled: boolean };

async function attempt({ options, failures, signal }: Attempting, key: string): Promise<Attempt> {
  try {
    const nextMs = await options.handle(key, signal);
    failures.delete(key);
    return { nextMs, isHandled: true };
  } catch (error) {
    const nextMs = backOff(options, failures, key);
    options.onError(key, error, nextMs);
    return { nextMs, isHandled: false };
  }
}

type Keys = {
  waiting: ReadonlySet<string>;
  running: ReadonlyMap<string, unknown>;
  again: ReadonlySet<string>;
  failures: ReadonlyMap<string, number>;
};

/** After how many runs of each key everything that was added is handled; undefined while one waits for its back-off. */
function runsToCome({ waiting, running, again, failures }: Keys): Map<string, number> | undefined {
  const runs = new Map([...waiting].map((key) => [key, 1]));
  for (const key of running.keys()) runs.set(key, again.has(key) ? 2 : 1);
  return [...failures.keys()].every((key) => runs.has(key)) ? runs : undefined;
}

type Waiter = { runs: Map<string, number>; end: (isDone: boolean) => void };

/** Waits for runs of keys. */
function createSettling() {
  const waiters = new Set<Waiter>();
  return {
    wait: (runs: Map<string, number>, withinMs: number): Promise<boolean> => {
      if (runs.size === 0) return Promise.resolve(true);
      return new Promise((resolve) => {
        const timer = setTimeout(() => waiter.end(false), withinMs);
        const end = (isDone: boolean) => {
          clearTimeout(timer);
          waiters.delete(waiter);
          resolve(isDone);
        };
        const waiter: Waiter = { runs, end };
        waiters.add(waiter);
      });
    },
    ran: (key: string, isHandled: boolean) => {
      for (const { runs, end } of waiters) {
        const left = runs.get(key);
        if (left === undefined) continue;
        if (!isHandled) end(false);
        else if (left > 1) runs.set(key, left - 1);
        else if (runs.delete(key) && runs.size === 0) end(true);
      }
    },
    close: () => {
      for (const { end } of waiters) end(false);
    },
  };
}

function backOff(options: WorkQueueOptions, failures: Map<string, number>, key: string): number {
  const { firstBackOffMs = 500, highestBackOffMs = 60_000 } = options;
  const count = failures.get(key) ?? 0;
  failures.set(key, count + 1);
  return Math.min(highestBackOffMs, firstBackOffMs * 2 ** Math.min(count, 16));
}
