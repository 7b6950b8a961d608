import { setTimeout as sleep } from "node:timers/promises";
import type { Container, Probe } from "../controllers/objects.ts";
import type { ProbeTarget } from "./probe.ts";
import { check } from "./probe.ts";

type Health = { started: boolean; ready: boolean };

type ProberDeps = {
  target: ProbeTarget;
  /** The previous result; an adopted container keeps it until a probe changes it. */
  initial: Health | undefined;
  onHealth(health: Health): void;
  /** Called once, when the startup or the liveness probe has failed. */
  onUnhealthy(message: string): void;
};

type Watch = { probe: Probe; signal: AbortSignal; onResult(good: boolean, message: string): boolean };

/** Probes periodically and reports a result once it repeats up to the threshold. Ends on abort. */
async function watchProbe(target: ProbeTarget, { probe, signal, onResult }: Watch): Promise<void> {
  const { initialDelaySeconds = 0, periodSeconds = 10, timeoutSeconds = 1 } = probe;
  const needed = { good: probe.successThreshold ?? 1, bad: probe.failureThreshold ?? 3 };
  let streak = { good: true, length: 0 };
  await sleep(initialDelaySeconds * 1000, undefined, { signal });
  while (!signal.aborted) {
    const message = await check(target, probe, timeoutSeconds * 1000);
    if (signal.aborted) return;
    const good = message === undefined;
    streak = streak.good === good ? { good, length: streak.length + 1 } : { good, length: 1 };
    const reached = streak.length >= (good ? needed.good : needed.bad);
    if (reached && !onResult(good, message ?? "")) return;
    await sleep(periodSeconds * 1000, undefined, { signal });
  }
}

function firstHealth({ startupProbe, readinessProbe }: Container): Health {
  const started = startupProbe === undefined;
  return { started, ready: started && readinessProbe === undefined };
}

/** Runs the probes of one running container until `signal` aborts: startup first, then readiness and liveness. */
export function startProber(deps: ProberDeps, signal: AbortSignal): void {
  const { target } = deps;
  const { startupProbe, readinessProbe, livenessProbe } = target.container;
  let health = deps.initial?.started === true ? deps.initial : firstHealth(target.container);
  const tell = (next: Partial<Health>) => {
    health = { ...health, ...next };
    deps.onHealth(health);
  };
  const run = (probe: Probe, onResult: Watch["onResult"]) => {
    // The only error is the abort of the sleep between two probes.
    watchProbe(target, { probe, signal, onResult }).catch(() => undefined);
  };
  const giveUp = (kind: string, message: string) => {
    deps.onUnhealthy(`${kind} probe failed: ${message}`);
    return false;
  };
  const live = () => {
    if (readinessProbe !== undefined) {
      run(readinessProbe, (good) => {
        if (good !== health.ready) tell({ ready: good });
        return true;
      });
    }
    if (livenessProbe !== undefined)
      run(livenessProbe, (good, message) => good || giveUp("Liveness", message));
  };
  tell({});
  if (startupProbe === undefined || health.started) live();
  else {
    run(startupProbe, (good, message) => {
      if (!good) return giveUp("Startup", message);
      tell({ started: true, ready: readinessProbe === undefined });
      live();
      return false;
    });
  }
}
