import { findHolder } from "@svc/world-lock";
import { annotation, type Server } from "../cluster/resource.ts";
import type { LifecycleSettings } from "../config.ts";
import { createPlaces, type Outside } from "../semaphore.ts";
import { type ActDeps, act } from "./act.ts";
import { decide } from "./decide.ts";
import { createForwardingAccess, type ForwardingAccess, withForwardingKey } from "./forwarding.ts";
import { nodeStateOf } from "./node-state.ts";
import {
  isAtRest,
  needsForwarding,
  needsHolder,
  needsProbe,
  needsSecret,
  type Observed,
} from "./observed.ts";
import { createMemories, type Memories } from "./pass-memory.ts";
import type { RconAccess } from "./rcon-access.ts";
import { invalidSpec } from "./rule.ts";

export type ReconcileDeps = Omit<ActDeps, "rcon" | "goOn" | "forwarding"> & {
  rcon: RconAccess;
  settings: LifecycleSettings;
  now: () => number;
  /** False once another replica may lead. */
  isHeld: () => boolean;
  /** Told of every start that succeeded. */
  onStarted: (seconds: number) => void;
};

export type Reconciler = {
  /** One pass over one server; resolves with the milliseconds to the next one, if it needs one. */
  reconcile: (name: string, signal: AbortSignal) => Promise<number | undefined>;
  /** Players of a server are to be counted at once and often for a while. */
  countSoon: (name: string) => void;
};

type PassDeps = ReconcileDeps &
  ActDeps & { memories: Memories; signal: AbortSignal; forwarding: ForwardingAccess };

/** The shell around `decide`: reads, decides, acts, remembers. */
export function createReconciler(deps: ReconcileDeps): Reconciler {
  const { watched, settings, now } = deps;
  const memories = createMemories();
  const forwarding = createForwardingAccess(settings);
  const places = createPlaces(settings.concurrency);
  const countSoon = (name: string) => memories.countSoon(name, now(), settings.join_count_window);
  const reconcile = async (name: string, signal: AbortSignal) => {
    const server = watched.servers.get(name);
    if (!server) {
      memories.forget(name);
      deps.rcon.forget(name);
      forwarding.forget(name);
      return undefined;
    }
    if (server.metadata.deletionTimestamp !== undefined) return undefined;
    if (isCountAsked(server, memories, now() - settings.join_count_window)) countSoon(name);
    return places.run((outside) => {
      const goOn = bound(deps);
      return pass({ ...deps, rcon: besides(deps.rcon, outside), goOn, memories, forwarding, signal }, name);
    });
  };
  return { reconcile, countSoon };
}

async function pass(deps: PassDeps, name: string): Promise<number | undefined> {
  const { memories, now } = deps;
  // It may have changed or gone while this pass waited for its place.
  const server = deps.watched.servers.get(name);
  if (!server) return 0;
  const observed = await observe(deps, server);
  const at = now();
  const refused = (message: string) => invalidSpec(observed, at, message);
  const plan = await act(deps, observed, { plan: decide(observed, at), refused });
  memories.keep(name, observed.memory, plan.memory);
  if (plan.status.phase === "Running" && observed.status.phase !== "Running") {
    const since = Date.parse(observed.status.startRequestedAt ?? "");
    if (!Number.isNaN(since)) deps.onStarted((at - since) / 1_000);
  }
  return plan.requeue === "on-change" ? undefined : plan.requeue.afterMs;
}

/** A pass ends with its time and with the lead; what it left is done by the next one. */
function bound({ settings, isHeld }: ReconcileDeps): () => void {
  const endAt = performance.now() + settings.pass_limit;
  return () => {
    if (!isHeld()) throw new Error("this process no longer leads");
    if (performance.now() > endAt)
      throw new Error(`the pass took longer than ${settings.pass_limit / 1_000} s`);
  };
}

/** Servers that are slow to answer hold up nobody else. */
function besides(rcon: RconAccess, outside: Outside): RconAccess {
  return {
    ...rcon,
    probe: (observed, signal) => outside(() => rcon.probe(observed, signal)),
    tell: (observed, message) => outside(() => rcon.tell(observed, message)),
    saveWorld: (observed) => outside(() => rcon.saveWorld(observed)),
  };
}

// Another replica took the report of a join; an old request was answered long ago.
function isCountAsked(server: Server, memories: Memories, notBefore: number): boolean {
  const request = server.metadata.annotations?.[annotation.countRequested];
  if (request === undefined || !memories.isNew(server.metadata.name, request)) return false;
  return Date.parse(request) > notBefore;
}

/** Reads everything once: first from the copies, then what this state has to ask for. */
async function observe(deps: PassDeps, server: Server): Promise<Observed> {
  const { kube, watched, settings, rcon, now, memories, signal } = deps;
  const { name } = server.metadata;
  const pod = watched.pods.get(`${name}-0`);
  const cached: Observed = {
    server,
    status: server.status ?? {},
    statefulSet: watched.statefulSets.get(name),
    service: watched.services.get(name),
    headless: watched.services.get(`${name}-hl`),
    pod,
    node: nodeStateOf(server, pod, watched.nodes),
    holder: undefined,
    secret: { kind: "unasked" },
    forwarding: { kind: "off" },
    probe: { kind: "none" },
    memory: memories.of(name),
    settings,
  };
  const lock = { now: now(), ttlMs: settings.maintenance_lock };
  const [holder, secret] = await Promise.all([
    needsHolder(cached) ? findHolder(kube, server, lock) : undefined,
    needsSecret(cached) ? rcon.readSecret(server, cached.status.phase === "Running") : cached.secret,
  ]);
  const asked = withForwarding(deps, { ...cached, holder: holder?.kind, secret });
  return needsProbe(asked, now()) ? { ...asked, probe: await rcon.probe(asked, signal) } : asked;
}

function withForwarding({ forwarding }: PassDeps, observed: Observed): Observed {
  if (!needsForwarding(observed)) return observed;
  const { server, status } = observed;
  const state = forwarding.read({ server, status, isAtRest: isAtRest(observed) });
  return { ...observed, forwarding: state, status: withForwardingKey(status, state) };
}
