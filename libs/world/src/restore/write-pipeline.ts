// Concurrent writes while a tree is extracted, and its flushing to disk in the background.

import type { Folder } from "../path/folder.ts";
import { syncVolume } from "../path/sync-volume.ts";

/** Calls `sync` once per this many written bytes. */
export type Flushing = { everyBytes: number; sync: (target: Folder) => Promise<void> };

export const defaultFlushing: Flushing = { everyBytes: 256 << 20, sync: syncVolume };

/** Runs a bounded number of writes while the next ones are prepared. */
export class WritePipeline {
  readonly #most: number;
  readonly #running: Promise<void>[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Adds a running write; its failure is thrown by `room` or `finish`. */
  start(step: Promise<void>): void {
    step.catch(() => undefined);
    this.#running.push(step);
  }

  /** Waits until another write may start. Throws the first failure. */
  async room(): Promise<void> {
    while (this.#running.length > this.#most) await this.#running.shift();
  }

  /** Waits for all. Throws the first failure. */
  async finish(): Promise<void> {
    while (this.#running.length > 0) await this.#running.shift();
  }

  /** Waits for all, ignoring failures. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#running);
  }
}

/** Syncs written data to disk from time to time, so that the final sync has little left to do. */
export class BackgroundFlush {
  readonly #target: Folder;
  readonly #flushing: Flushing;
  #bytes = 0;
  #running: Promise<void> | undefined;
  #failure: unknown;

  constructor(target: Folder, flushing: Flushing) {
    this.#target = target;
    this.#flushing = flushing;
  }

  count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < this.#flushing.everyBytes || this.#running !== undefined) return;
    this.#bytes = 0;
    this.#running = this.#flushing
      .sync(this.#target)
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** The kernel reports a failed writeback once: the final sync would not see it. */
  async finish(): Promise<void> {
    await this.#running;
    if (this.#failure !== undefined) throw this.#failure;
  }

  async settle(): Promise<void> {
    await this.#running;
  }
}
