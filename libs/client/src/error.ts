// What a refused call tells.

/** A refusal of the API (docs/reference/http.md#errors). `code` is stable; `requestId` finds the call in the server's log. */
export class ApiError extends Error {
  override name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly requestId: string;
  /** From Retry-After; undefined when waiting does not help. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    about: { status: number; code: string; requestId: string; retryAfterSeconds?: number | undefined },
  ) {
    super(message);
    this.status = about.status;
    this.code = about.code;
    this.requestId = about.requestId;
    this.retryAfterSeconds = about.retryAfterSeconds;
  }
}
