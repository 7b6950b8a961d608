import { Fault } from "@svc/proto";

const mostChars = 1_000;

/** A reason without spaces around it. Throws `bad_request` for one that nobody could read. */
export function readReason(given: string): string {
  const reason = given.trim();
  if (reason === "" || [...reason].length > mostChars || reason.includes("\0")) {
    throw new Fault("bad_request", { message: `reason: must be 1 to ${mostChars} characters` });
  }
  return reason;
}
