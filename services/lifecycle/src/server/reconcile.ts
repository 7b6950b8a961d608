import type { Logger } from "@svc/telemetry";
import type { LifecycleSettings } from "../config.ts";
import { type ActDeps, act } from "./act.ts";
import { decide } from "./decide.ts";
import { findHolder } from "./maintenance.ts";
import { nodeStateOf } from "./node-state.ts";
import { type Memory, needsHolder, needsProbe, needsSecret, noMemory, type Observed } from "./observe.ts";
import { annotation, type Server } from "./resource.ts";

export type ReconcileDeps = ActDeps & {
  settings: LifecycleSettings;
  now: () => number;
  /** Told of every start that succeeded. */
  onStarted: (seconds: number) => void;
  log: Logger;
};

export type Reconciler = {
  /** One pass over one server; resolves with the milliseconds to the next one, if it needs one. */
  reconcile: (name: string, signal: AbortSignal) => Promise<number | undefined>;
  /** Players of a server are to be counted at once and often for a while. */
  countSoon: (name: string) => void;
};

/** The shell around `decide`: reads, decides, acts, remembers. */
export function createReconciler(deps: ReconcileDeps): Reconciler {
  const { watched, settings, rcon, now } = deps;
  const memories = new Map<string, Memory>();
  const noted = new Map<string, string>();

  const countSoon = (name: string) => {
    const memory = memories.get(name) ?? noMemory;
    memories.set(name, { ...memory, probedAt: 0, joinedUntil: now() + settings.join_count_window });
  };
  const observeCached = (server: Server): Observed => {
    const { name } = server.metadata;
    const pod = watched.pods.get(`${name}-0`);
    return {
      server,
      status: server.status ?? {},
      statefulSet: watched.statefulSets.get(name),
      service: watched.services.get(name),
      headless: watched.services.get(`${name}-hl`),
      pod,
      node: nodeStateOf(server, pod, watched.nodes.list()),
      holder: undefined,
      secret: { kind: "unasked" },
      probe: { kind: "none" },
      memory: memories.get(name) ?? noMemory,
      settings,
    };
  };
  const observe = async (server: Server, signal: AbortSignal): Promise<Observed> => {
    const cached = observeCached(server);
    const lockTtlMs = settings.maintenance_lock;
    const isRunning = cached.status.phase === "Running";
    const [holder, secret] = await Promise.all([
      needsHolder(cached) ? findHolder(deps.kube, server, { now: now(), lockTtlMs }) : undefined,
      needsSecret(cached) ? rcon.readSecret(server, isRunning) : cached.secret,
    ]);
    const asked = { ...cached, holder, secret };
    return needsProbe(asked, now()) ? { ...asked, probe: await rcon.probe(asked, signal) } : asked;
  };
  const reconcile = async (name: string, signal: AbortSignal) => {
    const server = watched.servers.get(name);
    if (!server) {
      memories.delete(name);
      noted.delete(name);
      rcon.forget(name);
      return undefined;
    }
    if (server.metadata.deletionTimestamp !== undefined) return undefined;
    noteCountRequest(server);
    const observed = await observe(server, signal);
    const at = now();
    const { plan } = await act(deps, observed, decide(observed, at));
    remember(name, observed.memory, plan.memory);
    if (plan.status.phase === "Running" && observed.status.phase !== "Running") {
      const since = Date.parse(observed.status.startRequestedAt ?? "");
      if (!Number.isNaN(since)) deps.onStarted((at - since) / 1_000);
    }
    return plan.requeue === "on-change" ? undefined : plan.requeue.afterMs;
  };
  // A join that came while this pass ran stays remembered.
  const remember = (name: string, before: Memory, after: Memory) => {
    const current = memories.get(name) ?? noMemory;
    if (current !== before && current.joinedUntil > before.joinedUntil) return;
    if (after.misses === 0 && after.probedAt === 0 && after.joinedUntil === 0) memories.delete(name);
    else memories.set(name, after);
  };
  const noteCountRequest = (server: Server) => {
    const { name, annotations } = server.metadata;
    const request = annotations?.[annotation.countRequested];
    if (request === undefined || noted.get(name) === request) return;
    noted.set(name, request);
    if (now() - Date.parse(request) < settings.join_count_window) countSoon(name);
  };
  return { reconcile, countSoon };
}
