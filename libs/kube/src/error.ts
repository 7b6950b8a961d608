/** A rejection by the API server: HTTP `code`, machine-readable `reason` (`NotFound`, `Conflict`, …) and message. */
export class KubeError extends Error {
  readonly code: number;
  readonly reason: string;

  constructor(code: number, reason: string, message: string) {
    super(message);
    this.name = "KubeError";
    this.code = code;
    this.reason = reason;
  }
}

/** True for a `KubeError`, of that HTTP code when one is given. Compares by name, not by class. */
export function isKubeError(error: unknown, code?: number): error is KubeError {
  const isOne = error instanceof Error && error.name === "KubeError" && "code" in error && "reason" in error;
  return isOne && (code === undefined || error.code === code);
}

/** Reads a Kubernetes Status body; anything else becomes an error that names the HTTP code. */
export function kubeErrorOf(code: number, body: string): KubeError {
  try {
    const status = JSON.parse(body) as { reason?: unknown; message?: unknown };
    const reason = typeof status.reason === "string" ? status.reason : "";
    const message = typeof status.message === "string" ? status.message : `the API server answered ${code}`;
    return new KubeError(code, reason, message);
  } catch {
    return new KubeError(code, "", `the API server answered ${code}: ${body.slice(0, 200)}`);
  }
}
