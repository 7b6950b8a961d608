// Refusals by their code.

import type { FaultCode } from "@svc/proto";
import { ApiError } from "../error.ts";

export type { FaultCode };

/** True for a refusal with one of these codes (docs/reference/errors.md). */
export function isRefused<Code extends FaultCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is ApiError & { code: Code } {
  return error instanceof ApiError && codes.some((code) => code === error.code);
}
