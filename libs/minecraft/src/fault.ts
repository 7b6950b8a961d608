/** What went wrong: `frame` and `state` are the peer's fault (hostile or broken), `refused` carries a server's own words. */
type MinecraftFaultCode =
  | "frame"
  | "state"
  | "closed"
  | "timeout"
  | "unsupported"
  | "refused"
  | "unauthenticated"
  | "barred"
  | "unavailable"
  | "busy";

/** The only error this library throws. `code` decides what to do; `message` is for logs, never for a player. */
export class MinecraftFault extends Error {
  readonly code: MinecraftFaultCode;
  /** The other server's own words, when it gave some; for the player. */
  readonly reason: string | undefined;

  constructor(code: MinecraftFaultCode, message: string, reason?: string) {
    super(message);
    this.name = "MinecraftFault";
    this.code = code;
    this.reason = reason;
  }
}
