// A process of a test that is killed and started again, and that can be paused at a step.

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export class Program {
  readonly #start: () => ChildProcess;
  readonly #isReady: (line: string) => boolean;
  child: ChildProcess | undefined;
  /** The step at which it is to pause, for builds alone; resolved when it is about to take it. */
  #pause: { step: string; reached: () => void } | undefined;

  constructor(start: () => ChildProcess, isReady: (line: string) => boolean) {
    this.#start = start;
    this.#isReady = isReady;
  }

  async start(): Promise<void> {
    const child = this.#start();
    this.child = child;
    child.on("message", ({ at }: { at: string }) => {
      if (at !== this.#pause?.step) return;
      this.#pause.reached();
      this.#pause = undefined;
    });
    const ready = Promise.withResolvers<void>();
    if (!child.stdout) throw new Error("its output is not read");
    createInterface({ input: child.stdout }).on("line", (line) => this.#isReady(line) && ready.resolve());
    child.once("exit", (code) => ready.reject(new Error(`a process ended with code ${code}`)));
    await ready.promise;
  }

  get stopAt(): string {
    return this.#pause?.step ?? "";
  }

  pauseAt(step: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pause = { step, reached: resolve };
    this.tell({ stopAt: step });
    return promise;
  }

  tell(received: object): void {
    if (this.child?.connected) this.child.send(received);
  }

  async kill(): Promise<() => Promise<void>> {
    const { child } = this;
    if (child && child.exitCode === null && child.signalCode === null) {
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    }
    return () => this.start();
  }
}
