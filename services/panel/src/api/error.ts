/** A request that was refused, or that found nobody: then the code is `offline`. */
export class ApiError extends Error {
  readonly status: number;
  /** Wire code of the fault (docs/reference/errors.md); empty when something other than the service answered. */
  readonly code: string;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(about: {
    status: number;
    code: string;
    message: string;
    requestId?: string | undefined;
    retryAfterSeconds?: number | undefined;
  }) {
    super(about.message);
    this.name = "ApiError";
    this.status = about.status;
    this.code = about.code;
    this.requestId = about.requestId;
    this.retryAfterSeconds = about.retryAfterSeconds;
  }
}

/** Whether nobody answered, or not the service: the data on screen is old but not wrong. */
export function isAway(error: unknown): boolean {
  return error instanceof ApiError && (error.code === "offline" || error.status >= 502);
}

/** Reads a refusal; whatever an edge or a proxy answers becomes one as well. */
export async function errorOf(response: Response): Promise<ApiError> {
  const { status, headers } = response;
  const text = await response.text().catch(() => "");
  // An edge that limits has no envelope of ours; it means the same.
  const { code = status === 429 ? "rate_limited" : "", message = "", request_id } = envelopeOf(text);
  const retryAfter = Number(headers.get("retry-after") ?? Number.NaN);
  return new ApiError({
    status,
    code,
    message,
    requestId: request_id ?? headers.get("x-request-id") ?? undefined,
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : undefined,
  });
}

function envelopeOf(text: string): { code?: string; message?: string; request_id?: string } {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body !== "object" || body === null || !("error" in body)) return {};
    const { error } = body;
    return typeof error === "object" && error !== null ? error : {};
  } catch {
    return {};
  }
}

/** Stands for a request that reached nobody. */
export function offlineError(): ApiError {
  return new ApiError({ status: 0, code: "offline", message: "" });
}
