import { setTimeout as sleep } from "node:timers/promises";
import { errorText, StackError } from "../error.ts";
import { endProcess } from "../process/identity.ts";
import {
  describeExit,
  type Exit,
  type Launched,
  launch,
  logTail,
  waitUntilReady,
} from "../process/launch.ts";
import type { ProcessPlan } from "../process/plan.ts";
import { type BackOff, nextDelayMs } from "./back-off.ts";
import type { Registry } from "./registry.ts";

export type ChildSpec = ProcessPlan & {
  name: string;
  /** Processes that must be ready before this one starts; it stops before them. */
  after?: readonly string[];
  /** `task`: runs once to its end, code 0 is success. `service` (the default): is kept alive. */
  kind?: "service" | "task";
  /** Address of its metrics, from its ready line. */
  metricsOf?: (line: string) => string | undefined;
  /** How long the first start may take. */
  readyTimeoutMs?: number;
  /** How long it may take to end after the stop signal before it is killed. */
  stopTimeoutMs?: number;
};

type ChildDeps = {
  registry: Registry;
  logPath: string;
  rank: number;
  backOff: BackOff;
  /** Prints one line. */
  say: (line: string) => void;
  /** Called whenever the pid or the address of the metrics changed. */
  onChange: () => void;
};

export type Child = {
  name: string;
  logPath: string;
  /** Pid of the living process. */
  pid: () => number | undefined;
  /** Address of its metrics; undefined until it is ready, and for a process without metrics. */
  metrics: () => string | undefined;
  /** Starts it and keeps it alive; resolves when it is ready for the first time (a task: has succeeded). */
  start: () => Promise<void>;
  /** Stops it for good within `withinMs`. */
  stop: (withinMs: number) => Promise<void>;
};

const defaultReadyMs = 60_000;
const defaultStopMs = 15_000;
// Enough for a slow dependency; a wrong configuration still fails after a second.
const firstStartAttempts = 3;

type State = {
  current?: Launched | undefined;
  metrics?: string | undefined;
  isStopping: boolean;
  stop: AbortController;
  loop?: Promise<void>;
};

/** Starts one process and registers it synchronously. */
function launchOnce(spec: ChildSpec, deps: ChildDeps, state: State): Launched {
  const launched = launch({ ...spec, mark: { ...spec.mark, ...deps.registry.mark } }, deps.logPath);
  const { ref } = launched;
  if (ref)
    deps.registry.add({ name: spec.name, ref, rank: deps.rank, stopSignal: spec.stopSignal ?? "SIGTERM" });
  state.current = launched;
  deps.onChange();
  return launched;
}

function failure(spec: ChildSpec, deps: ChildDeps, why: string, offset: number | undefined): StackError {
  const tail = offset === undefined ? "" : logTail(deps.logPath, offset);
  return new StackError(`${spec.name} ${why}; its log is ${deps.logPath}${tail ? `:\n${tail}` : ""}`);
}

type Attempt = { exit: Exit; wasReady: boolean; aliveMs: number; offset: number | undefined };

/** One run of the process; `onReady` is called when it is ready. */
async function liveOnce(
  spec: ChildSpec,
  deps: ChildDeps,
  on: { state: State; ready: () => void },
): Promise<Attempt> {
  const dead = (error: unknown): Attempt => ({
    exit: { code: null, signal: null, error: errorText(error) },
    wasReady: false,
    aliveMs: 0,
    offset: undefined,
  });
  let launched: Launched;
  try {
    await spec.beforeStart?.();
    if (on.state.isStopping) return dead("stopped");
    launched = launchOnce(spec, deps, on.state);
  } catch (error) {
    return dead(error);
  }
  const { ready } = spec;
  const timeoutMs = spec.readyTimeoutMs ?? defaultReadyMs;
  const outcome = await waitUntilReady(launched, deps.logPath, { ready, timeoutMs }).catch(() => undefined);
  if (outcome?.state === "ready") {
    on.state.metrics = outcome.line === undefined ? undefined : spec.metricsOf?.(outcome.line);
    if (on.state.metrics !== undefined) deps.onChange();
    on.ready();
  }
  if (outcome?.state !== "ready" && outcome?.state !== "exited" && launched.ref) {
    deps.say(`${spec.name} was not ready within ${timeoutMs / 1000} s; stopping it`);
    await endProcess(launched.ref, [{ signal: "SIGKILL", waitMs: 2_000, group: true }]);
  }
  const exit = await launched.exited;
  on.state.current = undefined;
  on.state.metrics = undefined;
  deps.registry.remove(spec.name);
  deps.onChange();
  const aliveMs = Date.now() - launched.startedAt;
  return { exit, wasReady: outcome?.state === "ready", aliveMs, offset: launched.logOffset };
}

/** Restarts the process until it is stopped; gives up only if it has never been ready. */
async function keepAlive(
  spec: ChildSpec,
  deps: ChildDeps,
  on: { state: State; ready: () => void; failed: (error: StackError) => void },
): Promise<void> {
  let delayMs: number | undefined;
  let hasServed = false;
  for (let attempt = 1; !on.state.isStopping; attempt += 1) {
    const life = await liveOnce(spec, deps, on);
    hasServed ||= life.wasReady;
    if (on.state.isStopping) return;
    const why = describeExit(life.exit);
    if (!hasServed && attempt >= firstStartAttempts) {
      on.failed(failure(spec, deps, why, life.offset));
      return;
    }
    delayMs = nextDelayMs(delayMs, life.aliveMs, deps.backOff);
    deps.say(`${spec.name} ${why}; restarting in ${delayMs / 1000} s (log: ${deps.logPath})`);
    await sleep(delayMs, undefined, { signal: on.state.stop.signal }).catch(() => undefined);
  }
}

async function runTask(spec: ChildSpec, deps: ChildDeps, state: State): Promise<void> {
  await spec.beforeStart?.();
  if (state.isStopping) return;
  const launched = launchOnce(spec, deps, state);
  const exit = await launched.exited;
  state.current = undefined;
  deps.registry.remove(spec.name);
  deps.onChange();
  if (exit.code !== 0) throw failure(spec, deps, describeExit(exit), launched.logOffset);
}

/** A named, supervised process; see `createSupervisor`. */
export function createChild(spec: ChildSpec, deps: ChildDeps): Child {
  const state: State = { isStopping: false, stop: new AbortController() };
  return {
    name: spec.name,
    logPath: deps.logPath,
    pid: () => state.current?.child.pid,
    metrics: () => state.metrics,
    start: () => {
      if (spec.kind === "task") return runTask(spec, deps, state);
      return new Promise((resolve, reject) => {
        state.loop = keepAlive(spec, deps, { state, ready: resolve, failed: reject }).finally(() =>
          resolve(),
        );
      });
    },
    stop: async (withinMs) => {
      state.isStopping = true;
      state.stop.abort();
      const { current } = state;
      if (current?.ref) {
        const waitMs = Math.max(0, Math.min(spec.stopTimeoutMs ?? defaultStopMs, withinMs));
        await endProcess(current.ref, [
          { signal: spec.stopSignal ?? "SIGTERM", waitMs },
          { signal: "SIGKILL", waitMs: 2_000, group: true },
        ]);
        await current.exited;
      }
      await state.loop;
    },
  };
}
