/** An answer of S3 that is an error: an HTTP status, a code, and further elements of its XML. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly more: Readonly<Record<string, string>>;

  constructor(status: number, code: string, more: Readonly<Record<string, string>> = {}) {
    super(code);
    this.status = status;
    this.code = code;
    this.more = more;
  }
}
