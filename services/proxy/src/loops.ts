import type { Logger } from "@svc/telemetry";

type Loop = {
  name: string;
  everyMs: number;
  /** Asked before each turn; the loop pauses from the first no until `resume`. */
  isNeeded?: () => boolean;
  run: () => Promise<void>;
};

type Loops = {
  /** Goes on with the paused loops that are needed again. */
  resume: () => void;
  /** Waits for running loops. */
  stop: () => Promise<void>;
};

/** Runs each loop at its interval; a run that takes longer skips the next ones. */
export function startLoops(loops: readonly Loop[], log: Logger): Loops {
  const running = new Map<string, Promise<void>>();
  const timers = new Map<string, NodeJS.Timeout>();
  let isStopped = false;
  const turn = ({ name, isNeeded, run }: Loop) => {
    if (running.has(name)) return;
    if (isNeeded?.() === false) {
      clearInterval(timers.get(name));
      timers.delete(name);
      return;
    }
    const work = run()
      .catch((error: unknown) => log.error({ error, loop: name }, "loop failed; retrying"))
      .finally(() => running.delete(name));
    running.set(name, work);
  };
  const resume = () => {
    if (isStopped) return;
    for (const loop of loops) {
      if (timers.has(loop.name) || loop.isNeeded?.() === false) continue;
      timers.set(
        loop.name,
        setInterval(() => turn(loop), loop.everyMs),
      );
    }
  };
  resume();
  const stop = async () => {
    isStopped = true;
    for (const timer of timers.values()) clearInterval(timer);
    await Promise.all(running.values());
  };
  return { resume, stop };
}
