// Why a request to NATS failed.

type ConnectionFailure = "no-responder" | "timeout" | "unsent" | "lost" | "denied" | "too-large" | "aborted";

/** A request got no reply; `kind` decides whether it may be sent again. `unsent`: there was no connection to send it on. */
export class ConnectionError extends Error {
  readonly kind: ConnectionFailure;
  constructor(kind: ConnectionFailure, message: string) {
    super(message);
    this.name = "ConnectionError";
    this.kind = kind;
  }
}
