/** Codes of an operation that failed (docs/reference/files.md#fetch). */
type Code = "download_failed" | "digest_mismatch" | "too_large";

/** A download that fails in the same way when it is repeated. */
export class DownloadError extends Error {
  readonly code: Code;

  constructor(code: Code, message: string) {
    super(message);
    this.name = "DownloadError";
    this.code = code;
  }
}
