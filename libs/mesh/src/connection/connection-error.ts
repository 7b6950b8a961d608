// Failures of a request that NATS or the connection to it explains.

export type ConnectionFailure = "no-responder" | "timeout" | "lost" | "denied" | "too-large" | "aborted";

/** Why a request got no reply; `kind` decides whether it may be sent again. */
export class ConnectionError extends Error {
  readonly kind: ConnectionFailure;
  constructor(kind: ConnectionFailure, message: string) {
    super(message);
    this.name = "ConnectionError";
    this.kind = kind;
  }
}
