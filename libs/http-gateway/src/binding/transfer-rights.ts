// A byte transfer ends when its session is revoked anywhere, and when a recheck (every minute) is refused, as event
// streams do. Ownership of what is transferred is watched by the owner.

import { Fault, faults, isFault, type Principal } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import type { Authenticator } from "../access/authenticate.ts";
import type { Sessions } from "../access/sessions.ts";
import type { FaceSettings } from "../settings.ts";
import type { Call } from "./call.ts";

type Watched = Disposable & {
  /** Aborts with the fault to respond with, where a response can still be sent. */
  readonly signal: AbortSignal;
};

export type TransferRights = {
  /** Watches an authenticated call until it is disposed of. */
  watch: (call: Call) => Watched;
  close: () => void;
};

type Deps = {
  authenticator: Authenticator;
  sessions?: Pick<Sessions, "onRevoked"> | undefined;
  settings: Pick<FaceSettings, "streamRecheckMs">;
  log: Logger;
};

type Running = { call: Call; ending: AbortController };

export function createTransferRights(deps: Deps): TransferRights {
  const running = new Set<Running>();
  deps.sessions?.onRevoked((hash) => {
    for (const { call, ending } of running) {
      const { principal } = call;
      if (principal.kind === "account" && principal.session === hash)
        ending.abort(new Fault("session_invalid"));
    }
  });
  const timer = setInterval(() => {
    for (const one of running) {
      recheck(deps, one).catch((error) =>
        deps.log.error({ err: error }, "rechecking a byte transfer failed"),
      );
    }
  }, deps.settings.streamRecheckMs).unref();
  return {
    watch: (call) => {
      const one = { call, ending: new AbortController() };
      // An anonymous caller has a one-time token, which is spent.
      if (call.principal.kind !== "anonymous") running.add(one);
      return { signal: one.ending.signal, [Symbol.dispose]: () => void running.delete(one) };
    },
    close: () => clearInterval(timer),
  };
}

// Only a definite refusal ends a transfer: while identity is unreachable, the last answer stands.
async function recheck({ authenticator }: Deps, { call, ending }: Running): Promise<void> {
  const { contract, credentials, principal: was } = call;
  try {
    const now = await (was.kind === "account"
      ? authenticator.reauthenticate(contract.http, was, credentials)
      : authenticator.authenticate(contract.http, credentials));
    const loss = lossOf(now, was);
    if (loss) ending.abort(new Fault(loss));
  } catch (error) {
    const status = isFault(error) ? faults[error.fault].status : 500;
    if (status === 401 || status === 403) ending.abort(error);
  }
}

// The owner accepted a principal that has changed since.
function lossOf(now: Principal, was: Principal): "session_invalid" | "forbidden" | undefined {
  if (was.kind !== "account") return undefined;
  // At a public operation a caller whose session ended is anonymous.
  if (now.kind !== "account") return "session_invalid";
  return was.staff && !now.staff ? "forbidden" : undefined;
}
