/**
 * Why sealed bytes or a key cannot be used.
 * `not_sealed`: the magic is missing. `unreadable`: no key of the ring opens the first segment. `damaged`: a later segment
 * was changed, moved or replaced. `truncated`: the end is missing. `trailing`: bytes follow the end. `source_changed`: the
 * plaintext differs from what was sealed before under the same nonce. `key`: a key or its file is not valid.
 * `sheet`: a recovery sheet is not valid.
 */
type SealedProblem =
  | "not_sealed"
  | "unreadable"
  | "damaged"
  | "truncated"
  | "trailing"
  | "source_changed"
  | "key"
  | "sheet";

export class SealedError extends Error {
  override readonly name = "SealedError";
  readonly problem: SealedProblem;

  constructor(problem: SealedProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

/** Compares by name; with `problem`, true only for that one. */
export function isSealedError(error: unknown, problem?: SealedProblem): error is SealedError {
  if (!(error instanceof Error) || error.name !== "SealedError") return false;
  return problem === undefined || (error as SealedError).problem === problem;
}
