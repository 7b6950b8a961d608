// Failures of a request that NATS or the connection to it explains.

export type LinkFailure = "no-responder" | "timeout" | "lost" | "denied" | "too-large" | "aborted";

/** Why a request got no reply; `kind` decides whether it may be sent again. */
export class LinkError extends Error {
  readonly kind: LinkFailure;
  constructor(kind: LinkFailure, message: string) {
    super(message);
    this.name = "LinkError";
    this.kind = kind;
  }
}
