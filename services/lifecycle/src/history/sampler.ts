// Samples on the replica that leads, once a minute (docs/reference/history.md#sampling). Each source fails alone: what it
// would have said is a gap.

import { setTimeout as delay } from "node:timers/promises";
import { isKubeError, type Kube, type PodMetrics, resources } from "@svc/kube";
import { Counter, type Logger, type Registry } from "@svc/telemetry";
import { label, operatorName, type Server } from "../cluster/resource.ts";
import { decidePlatformSample, decideSamples, isSampled, type Usage, usagesOf } from "./sample.ts";
import { decideSweep, finestMinutes, minuteMs, stepStart } from "./step.ts";
import type { HistoryStore } from "./store.ts";
import type { Ticks } from "./ticks.ts";

export type SamplerDeps = {
  kube: Pick<Kube, "list">;
  namespace: string;
  servers: { list: () => readonly Server[]; isLive: () => boolean };
  history: HistoryStore;
  ticks: Ticks;
  isLeading: () => boolean;
  intervalMs: number;
  registry: Registry;
  log: Logger;
  now: () => number;
};

const sweepMs = 60 * minuteMs;
/** A cluster without a metrics server gets one within this time rarely. */
const absentMetricsMs = 10 * minuteMs;
/** A server that has just started has no ticks that say anything. */
const settledMs = minuteMs;
const ticksLimitMs = 45_000;

type Sampler = {
  /** One sample of everything; never rejects. */
  sample: (signal: AbortSignal) => Promise<void>;
};

export function createSampler(deps: SamplerDeps): Sampler {
  const { servers, history, now } = deps;
  const attempt = createAttempts(deps);
  const readUsages = createUsages(deps);
  let ticksAt = 0;
  let sweptAt = 0;

  const sampleServers = async () => {
    const all = servers.list();
    const at = now();
    const usages = all.some(isSampled) ? await attempt("usage", readUsages) : undefined;
    await attempt("servers", () => history.record(at, decideSamples(all, usages ?? new Map())));
    await attempt("platform", () => history.recordPlatform(at, decidePlatformSample(all)));
  };

  // The commands show in some servers' logs, so they are asked once in a step.
  const sampleTicks = async (signal: AbortSignal) => {
    const at = now();
    if (stepStart(at, finestMinutes) === ticksAt) return;
    ticksAt = stepStart(at, finestMinutes);
    const settled = servers.list().filter((server) => isSampled(server) && isSettled(server, at));
    if (settled.length === 0) return;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(ticksLimitMs)]);
    const rates = await deps.ticks.read(settled, limit);
    await attempt("ticks", () =>
      history.record(
        at,
        [...rates].map(([name, tps]) => ({ name, tps })),
      ),
    );
  };

  const sweep = async () => {
    if (now() - sweptAt < sweepMs) return;
    const done = await attempt("sweep", () => history.sweep(decideSweep(now())).then(() => true));
    if (done) sweptAt = now();
  };

  return {
    sample: async (signal) => {
      // A copy that is not current would record players who may have left long ago.
      if (!deps.isLeading() || !servers.isLive()) return;
      await sampleServers();
      if (!signal.aborted) await sampleTicks(signal);
      if (!signal.aborted) await sweep();
    },
  };
}

function isSettled({ status }: Server, now: number): boolean {
  return now - Date.parse(status?.readySignalAt ?? "") >= settledMs;
}

/** Runs one part of a sample; what fails is logged, counted and undefined. */
function createAttempts({ registry, log }: Pick<SamplerDeps, "registry" | "log">) {
  const total = new Counter({
    name: "svc_history_samples_total",
    help: "Parts of samples of the history, by part and result.",
    labelNames: ["part", "result"] as const,
    registers: [registry],
  });
  return async <T>(part: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      const result = await work();
      total.inc({ part, result: "done" });
      return result;
    } catch (error) {
      total.inc({ part, result: "failed" });
      log.warn({ part, error: (error as Error).message }, "sampling failed; the history has a gap");
      return undefined;
    }
  };
}

function createUsages({ kube, namespace, log, now }: SamplerDeps): () => Promise<Map<string, Usage>> {
  const about = { namespace, labelSelector: `${label.managedBy}=${operatorName}` };
  let askedAgainAt = 0;
  return async () => {
    if (now() < askedAgainAt) return new Map();
    try {
      const { items } = await kube.list<PodMetrics>(resources.podMetrics, about);
      return usagesOf(items);
    } catch (error) {
      if (!isKubeError(error, 404)) throw error;
      if (askedAgainAt === 0) log.info("the cluster has no metrics API; memory and processor stay unknown");
      askedAgainAt = now() + absentMetricsMs;
      return new Map();
    }
  };
}

/** Samples at every full interval until closed. */
export function startSampling(
  deps: Pick<SamplerDeps, "intervalMs" | "now">,
  sampler: Sampler,
): { close: () => Promise<void> } {
  const closing = new AbortController();
  const { signal } = closing;
  const run = async () => {
    let last = 0;
    while (!signal.aborted) {
      const waitMs = deps.intervalMs - (deps.now() % deps.intervalMs);
      await delay(waitMs, undefined, { signal }).catch(() => {});
      // A timer may be early by a little and would then be due twice.
      const turn = Math.round(deps.now() / deps.intervalMs);
      if (signal.aborted || turn === last) continue;
      last = turn;
      await sampler.sample(signal);
    }
  };
  const running = run();
  return {
    close: async () => {
      closing.abort();
      await running;
    },
  };
}
