// What a handler receives. Signal and log are created on first use: most handlers need neither.

import { type AnyContract, Fault } from "@svc/proto";
import type { Context } from "../api.ts";
import type { Core } from "../core.ts";
import type { Envelope } from "./wire.ts";

/** The context of one request; `end` frees the deadline timer. */
export function createContext(
  core: Core,
  contract: AnyContract,
  envelope: Envelope,
): { context: Context<AnyContract>; end: () => void } {
  let log = undefined as Context<AnyContract>["log"] | undefined;
  let lifetime = undefined as Lifetime | undefined;
  const context: Context<AnyContract> = {
    ...envelope,
    get signal() {
      lifetime ??= startLifetime(envelope.deadlineAt, core.closing);
      return lifetime.signal;
    },
    get log() {
      const trace = core.tracing.isOn ? { trace_id: envelope.traceparent.split("-")[1] } : {};
      log ??= core.log.child({ request_id: envelope.requestId, subject: contract.subject, ...trace });
      return log;
    },
    fault: (name, options) => new Fault(name, options),
    reply: {},
  };
  return { context, end: () => lifetime?.end() };
}

type Lifetime = { signal: AbortSignal; end: () => void };

function startLifetime(deadlineAt: number, closing: AbortSignal): Lifetime {
  const controller = new AbortController();
  const abort = () => controller.abort(new Fault("unavailable"));
  const restMs = deadlineAt - Date.now();
  const timer = setTimeout(abort, Math.max(0, restMs));
  // A timer that is due fires later than a handler that looks at once, whose caller has given up.
  if (closing.aborted || restMs <= 0) abort();
  else closing.addEventListener("abort", abort, { once: true });
  return {
    signal: controller.signal,
    end: () => {
      clearTimeout(timer);
      closing.removeEventListener("abort", abort);
    },
  };
}
