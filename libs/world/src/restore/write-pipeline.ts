// What goes on beside the writing of a tree: writes and files that end, and the way to the disk.

import type { Folder } from "../path/folder.ts";
import { syncVolume } from "../path/sync-volume.ts";

/** What is written goes to the disk by `sync` once in so many bytes of files. */
export type Flushing = { everyBytes: number; sync: (target: Folder) => Promise<void> };

export const defaultFlushing: Flushing = { everyBytes: 256 << 20, sync: syncVolume };

/** Steps that go on while the next ones are prepared, a few at a time. */
export class WritePipeline {
  readonly #most: number;
  readonly #running: Promise<void>[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes a step that was started; whether it fails is told by `room` and `finish`. */
  start(step: Promise<void>): void {
    step.catch(() => undefined);
    this.#running.push(step);
  }

  /** Waits until another step may start. Throws what failed. */
  async room(): Promise<void> {
    while (this.#running.length > this.#most) await this.#running.shift();
  }

  /** Waits for all. Throws what failed. */
  async finish(): Promise<void> {
    while (this.#running.length > 0) await this.#running.shift();
  }

  /** Waits for all, however they end. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#running);
  }
}

/** Sends what is written to the disk now and then, so that the sync at the end has little left to do. */
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

  /** The kernel tells a failed write to the disk once: the sync at the end would not hear of it. */
  async finish(): Promise<void> {
    await this.#running;
    if (this.#failure !== undefined) throw this.#failure;
  }

  async settle(): Promise<void> {
    await this.#running;
  }
}
