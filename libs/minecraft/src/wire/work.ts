import { fullBucket, overdraw, type TokenBucket, type TokenRate } from "@svc/service/token-bucket";

/** What one connection may cost. A unit is about the time that one byte takes to inflate or to pass: a nanosecond. */
export type WorkLimits = TokenRate;

/**
 * A twentieth of a core, and some tenths of a second of it at once. Frames that only pass may come at a quarter of a
 * Gbit/s, and a server without compression can still send the whole world of a join.
 */
export const defaultWork: WorkLimits = { burst: 268_435_456, perSecond: 33_554_432 };

/** Units for each thing that a peer makes us do, beside one for each of its bytes. Setting up zlib is dearer than most packets. */
export const workOf = {
  peek: 512,
  // Its frames are written one by one.
  inspect: 8_192,
  inflate: (bytes: number) => 24_576 + bytes,
  deflate: (bytes: number) => 24_576 + 8 * bytes,
} as const;

const maxRestMs = 60_000;

/** What a connection has cost: what is done is done, and then nothing more until the debt is paid. */
export class Work {
  limits: WorkLimits;
  /** All units so far. */
  spent = 0;
  readonly #now: () => number;
  readonly #bucket: TokenBucket;

  constructor(limits: WorkLimits = defaultWork, now: () => number = () => performance.now()) {
    this.limits = limits;
    this.#now = now;
    this.#bucket = fullBucket(limits, now());
  }

  /** Takes the units; answers for how many milliseconds the peer is to rest. */
  spend(units: number): number {
    this.spent += units;
    const { burst, perSecond } = this.limits;
    return Math.min(maxRestMs, overdraw(this.#bucket, { burst, perSecond, count: units }, this.#now()));
  }
}
