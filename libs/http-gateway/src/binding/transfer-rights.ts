// Bytes that move for somebody move only while they may: a transfer ends when its session is revoked anywhere, and when
// the check of every minute gets a clear no, as event streams do. Whose the bytes are is watched by their owner.

import { Fault, faults, isFault, type Principal } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import type { Gate } from "../access/authenticate.ts";
import type { Sessions } from "../access/sessions.ts";
import type { FaceSettings } from "../settings.ts";
import type { Call } from "./call.ts";

export type Watched = Disposable & {
  /** Aborts with the fault that its caller is told, where an answer can still be given. */
  readonly signal: AbortSignal;
};

export type TransferRights = {
  /** Watches an admitted call until it is disposed of. */
  watch: (call: Call) => Watched;
  close: () => void;
};

type Needs = {
  gate: Gate;
  sessions?: Pick<Sessions, "onRevoked"> | undefined;
  settings: Pick<FaceSettings, "streamRecheckMs">;
  log: Logger;
};

type Running = { call: Call; ending: AbortController };

export function createTransferRights(needs: Needs): TransferRights {
  const running = new Set<Running>();
  needs.sessions?.onRevoked((hash) => {
    for (const { call, ending } of running) {
      const { principal } = call;
      if (principal.kind === "account" && principal.session === hash)
        ending.abort(new Fault("session_invalid"));
    }
  });
  const timer = setInterval(() => {
    for (const one of running) {
      recheck(needs, one).catch((error) =>
        needs.log.error({ err: error }, "a transfer could not be checked again"),
      );
    }
  }, needs.settings.streamRecheckMs).unref();
  return {
    watch: (call) => {
      const one = { call, ending: new AbortController() };
      // Whoever has no credential of their own has a token that was spent.
      if (call.principal.kind !== "anonymous") running.add(one);
      return { signal: one.ending.signal, [Symbol.dispose]: () => void running.delete(one) };
    },
    close: () => clearInterval(timer),
  };
}

// Only a clear no ends a transfer: while identity cannot be reached, the last yes stands.
async function recheck({ gate }: Needs, { call, ending }: Running): Promise<void> {
  const { contract, visitor, principal: was } = call;
  try {
    const now = await (was.kind === "account"
      ? gate.readmit(contract.http, was, visitor)
      : gate.admit(contract.http, visitor));
    const loss = lossOf(now, was);
    if (loss) ending.abort(new Fault(loss));
  } catch (error) {
    const status = isFault(error) ? faults[error.fault].status : 500;
    if (status === 401 || status === 403) ending.abort(error);
  }
}

// The owner said yes to somebody who is not that any more.
function lossOf(now: Principal, was: Principal): "session_invalid" | "forbidden" | undefined {
  if (was.kind !== "account") return undefined;
  // Where anybody may come, somebody whose session ended is a stranger.
  if (now.kind !== "account") return "session_invalid";
  return was.staff && !now.staff ? "forbidden" : undefined;
}
