/**
 * What went wrong on an RCON connection.
 * - `connect`: no TCP connection (refused, unreachable, unknown host)
 * - `auth`: the server does not accept the password
 * - `timeout`: no full answer within the time allowed; the connection is closed, its stream is of no use any more
 * - `closed`: the connection ended, by the server, by `close()` or by the caller's signal
 * - `too_long`: a command above 1446 bytes, or a reply above the cap
 * - `protocol`: bytes that are not Source RCON, or a command that can't be sent (line break, NUL)
 */
type RconErrorCode = "auth" | "timeout" | "closed" | "connect" | "too_long" | "protocol";

/** The only error that this library throws on purpose; compare by `code`. */
export class RconError extends Error {
  readonly code: RconErrorCode;

  constructor(code: RconErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "RconError";
    this.code = code;
  }
}
