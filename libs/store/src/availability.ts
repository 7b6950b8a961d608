import { Fault } from "@svc/proto";

// Classes of PostgreSQL that mean "not now": connection, resources, operator intervention, statement timeout.
const passing = /^(08|53|57)/;
const network = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
]);
const lostConnection =
  /connection terminated|timeout exceeded when trying to connect|connection error|not queryable|query read timeout/i;
/** A statement that changes something met a server that takes no changes. */
const readOnlyTransaction = "25006";

// Text that PostgreSQL cannot hold, of which JSON and a path can have one: U+0000.
const unkeepable = new Set(["22021", "22P05"]);

/**
 * Turns "the database is not there" into the fault `unavailable` (503, never 401 or 500), and a character that it
 * cannot hold into `bad_request`; any other error is returned as it came.
 */
export function asFault(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (unkeepable.has(code)) {
    const message = "The request contains the character U+0000, which is not allowed.";
    return new Fault("bad_request", { message, cause: error });
  }
  if (code === readOnlyTransaction) return readOnly(error);
  const isPassing = passing.test(code) || network.has(code) || lostConnection.test(error.message);
  if (!isPassing) return error;
  return new Fault("unavailable", {
    message: "The database is unreachable; try again in a moment.",
    cause: error,
  });
}

/** The fault while the address of the database leads to a standby, or to a server that was made read-only. */
export function readOnly(cause?: Error): Fault {
  const message = "The database takes no changes at the moment; try again in a moment.";
  return new Fault("unavailable", { message, ...(cause && { cause }) });
}

/** Whether the connection of a statement that failed so must not be used again. */
export function isGone(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? error.code : undefined;
  return code === readOnlyTransaction || /query read timeout/i.test(error.message);
}

/** True when an error is a violation of the named unique constraint or index. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof Error && "constraint" in error && error.constraint === constraint;
}
