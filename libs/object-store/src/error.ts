/**
 * Why a call failed.
 * `unavailable`: not reachable, overloaded or too slow, also after the retries; a later call may work. `denied`: the
 * credential is valid and may not do this. `credential`: the store does not know the access key or the secret is wrong.
 * `clock`: our clock and the store's differ too much. `no_bucket`: the bucket does not exist. `full`: no room is left.
 * `conflict`: a conditional put came too late. `unsupported`: the store cannot do it. `changed`: the object was replaced
 * while it was read. `malformed`: the answer breaks the protocol or has another size. `rejected`: anything else that the
 * store refuses.
 */
export type ObjectStoreProblem =
  | "unavailable"
  | "denied"
  | "credential"
  | "clock"
  | "no_bucket"
  | "full"
  | "conflict"
  | "unsupported"
  | "changed"
  | "malformed"
  | "rejected";

export class ObjectStoreError extends Error {
  override readonly name = "ObjectStoreError";
  readonly problem: ObjectStoreProblem;
  /** What the store asked for in `Retry-After`. */
  readonly retryAfterMs: number | undefined;

  constructor(
    problem: ObjectStoreProblem,
    message: string,
    more: { cause?: unknown; retryAfterMs?: number | undefined } = {},
  ) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.problem = problem;
    this.retryAfterMs = more.retryAfterMs;
  }
}

/** Compares by name; with `problem`, true only for that one. */
export function isObjectStoreError(error: unknown, problem?: ObjectStoreProblem): error is ObjectStoreError {
  if (!(error instanceof Error) || error.name !== "ObjectStoreError") return false;
  return problem === undefined || (error as ObjectStoreError).problem === problem;
}
