/**
 * Why a call failed: `unavailable` = not reachable, too slow or overloaded, so a later call may work; `denied` = the
 * credential does not allow it; `rejected` = the registry refuses this request; `malformed` = the answer breaks the
 * protocol: a wrong digest, a redirect, too many bytes.
 */
type RegistryErrorKind = "unavailable" | "denied" | "rejected" | "malformed";

export class RegistryError extends Error {
  override readonly name = "RegistryError";
  readonly kind: RegistryErrorKind;
  /** What the registry asked for in `Retry-After`. */
  readonly retryAfterMs: number | undefined;
  /** The code of the distribution API that the registry gave, such as `MANIFEST_BLOB_UNKNOWN`. */
  readonly code: string | undefined;

  constructor(
    kind: RegistryErrorKind,
    message: string,
    more: { cause?: unknown; retryAfterMs?: number; code?: string | undefined } = {},
  ) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.kind = kind;
    this.retryAfterMs = more.retryAfterMs;
    this.code = more.code;
  }
}

/** Compares by name; with `kind`, true only for that kind. */
export function isRegistryError(error: unknown, kind?: RegistryErrorKind): error is RegistryError {
  if (!(error instanceof Error) || error.name !== "RegistryError") return false;
  return kind === undefined || (error as RegistryError).kind === kind;
}

export function malformed(message: string): RegistryError {
  return new RegistryError("malformed", message);
}
