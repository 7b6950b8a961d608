type Sleeper = { readonly due: number; readonly wake: () => void };

/** Time as gate and lobby see it. `sleep` rejects once `signal` is aborted. */
type Clock = {
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** A clock that a test moves. `pass` wakes all sleepers up to then, each at its own time, with what they start anew. */
export function createTestClock(): {
  readonly clock: Clock;
  readonly pass: (ms: number) => Promise<void>;
  /** How many sleep right now. */
  readonly sleeping: () => number;
} {
  let now = 0;
  let sleepers: Sleeper[] = [];
  const clock: Clock = {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const sleeper = { due: now + ms, wake: resolve };
        signal.addEventListener("abort", () => {
          sleepers = sleepers.filter((one) => one !== sleeper);
          reject(signal.reason);
        });
        if (signal.aborted) reject(signal.reason);
        else sleepers.push(sleeper);
      }),
  };
  const pass = async (ms: number) => {
    const end = now + ms;
    await settle();
    for (;;) {
      const [next] = sleepers.filter(({ due }) => due <= end).sort((a, b) => a.due - b.due);
      if (!next) break;
      now = Math.max(now, next.due);
      sleepers = sleepers.filter((one) => one !== next);
      next.wake();
      await settle();
    }
    now = end;
  };
  return { clock, pass, sleeping: () => sleepers.length };
}

async function settle(): Promise<void> {
  await new Promise(setImmediate);
}
