import type { Logger } from "@svc/telemetry";

type Loop = { name: string; everyMs: number; run: () => Promise<void> };

/** Runs each loop at its interval; a run that takes longer skips the next ones. Returns a stop that waits for running loops. */
export function startLoops(loops: readonly Loop[], log: Logger): () => Promise<void> {
  const running = new Map<string, Promise<void>>();
  const turn = ({ name, run }: Loop) => {
    if (running.has(name)) return;
    const work = run()
      .catch((error: unknown) => log.error({ error, loop: name }, "loop failed; retrying"))
      .finally(() => running.delete(name));
    running.set(name, work);
  };
  const timers = loops.map((loop) => setInterval(() => turn(loop), loop.everyMs));
  return async () => {
    for (const timer of timers) clearInterval(timer);
    await Promise.all(running.values());
  };
}
