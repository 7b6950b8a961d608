// Turns failures of the SDK into one sentence that says what to do.

import { ObjectStoreError, type ObjectStoreProblem } from "./error.ts";
import { readRetryAfter } from "./timing.ts";

/** What the SDK attaches to its errors. */
type ServiceError = Error & {
  Code?: string;
  code?: string;
  $metadata?: { httpStatusCode?: number; clockSkewCorrected?: boolean };
  $response?: { headers?: Record<string, string> };
};

type About = { operation: string; bucket: string; endpoint: string; now: number };

const byCode: Record<string, ObjectStoreProblem> = {
  NoSuchBucket: "no_bucket",
  InvalidBucketName: "no_bucket",
  InvalidAccessKeyId: "credential",
  SignatureDoesNotMatch: "credential",
  InvalidToken: "credential",
  ExpiredToken: "credential",
  RequestTimeTooSkewed: "clock",
  RequestExpired: "clock",
  AccessDenied: "denied",
  AllAccessDisabled: "denied",
  AccountProblem: "denied",
  PreconditionFailed: "conflict",
  ConditionalRequestConflict: "conflict",
  NotImplemented: "unsupported",
  QuotaExceeded: "full",
  EntityTooLarge: "full",
  InsufficientStorage: "full",
  BadDigest: "unavailable",
  XAmzContentSHA256Mismatch: "unavailable",
  IncompleteBody: "unavailable",
  RequestTimeout: "unavailable",
  SlowDown: "unavailable",
  InternalError: "unavailable",
  ServiceUnavailable: "unavailable",
};

const byStatus: Record<number, ObjectStoreProblem> = {
  401: "credential",
  403: "denied",
  409: "conflict",
  412: "conflict",
  429: "unavailable",
  501: "unsupported",
  507: "full",
};

const certificateCodes = /^(CERT_|ERR_TLS_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/;

/** The HTTP status of an answer, 0 when there was none. */
export const statusOf = (error: unknown): number => (error as ServiceError).$metadata?.httpStatusCode ?? 0;

/** The code that the store gave, such as `NoSuchUpload`. */
export const codeOf = (error: unknown): string => {
  const { Code, name, code } = error as ServiceError;
  return Code ?? (statusOf(error) === 0 ? (code ?? name) : name);
};

/** Whether the SDK set its clock by the answer, so that the same call can work now. */
export const isClockCorrected = (error: unknown): boolean =>
  (error as ServiceError).$metadata?.clockSkewCorrected === true;

export function explain(error: unknown, about: About): ObjectStoreError {
  if (error instanceof ObjectStoreError) return error;
  const [status, code] = [statusOf(error), codeOf(error)];
  const problem = problemOf(status, code);
  const header = (error as ServiceError).$response?.headers?.["retry-after"];
  return new ObjectStoreError(problem, sentence(problem, { ...about, status, code, error }), {
    cause: error,
    retryAfterMs: readRetryAfter(header, about.now),
  });
}

function problemOf(status: number, code: string): ObjectStoreProblem {
  const known = byCode[code] ?? byStatus[status];
  if (known) return known;
  if (status === 0) return certificateCodes.test(code) || code === "ENOTFOUND" ? "rejected" : "unavailable";
  return status >= 500 ? "unavailable" : "rejected";
}

function sentence(
  problem: ObjectStoreProblem,
  {
    operation,
    bucket,
    endpoint,
    status,
    code,
    error,
  }: About & { status: number; code: string; error: unknown },
): string {
  const answer = status === 0 ? code : `${status} ${code}`;
  const words: Partial<Record<ObjectStoreProblem, string>> = {
    credential: `${endpoint} does not accept the access key or its secret; check offsite.access_key_ref and offsite.secret_key_ref, and offsite.region`,
    denied: `the access key has no right for this in the bucket ${bucket}: ${operation}; the reference lists the rights it needs`,
    clock: `the clocks of this machine and of ${endpoint} differ too much; set this machine's clock (NTP)`,
    no_bucket: `there is no bucket ${bucket} at ${endpoint}; create it, or correct offsite.bucket`,
    full: `the bucket ${bucket} is full; make room or raise its quota`,
    conflict: `another writer was faster: the condition of ${operation} does not hold`,
    unsupported: `${endpoint} does not support ${operation} in this form`,
  };
  const known = words[problem];
  if (known) return `${known} (${answer})`;
  if (status !== 0) return `${endpoint} answered ${operation} with ${answer}`;
  if (code === "ENOTFOUND")
    return `the name of ${endpoint} cannot be resolved; check offsite.endpoint and the DNS`;
  if (certificateCodes.test(code))
    return `the certificate of ${endpoint} is not valid: ${(error as Error).message}`;
  return `${endpoint} does not respond to ${operation}: ${(error as Error).message}`;
}
