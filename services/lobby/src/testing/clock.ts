import type { Clock } from "../session/clock.ts";

type Sleeper = { readonly due: number; readonly wake: () => void };

/** A clock that a test moves. */
export function createTestClock() {
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
  /** Wakes all sleepers up to then, each at its own time, with what they start anew. */
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
