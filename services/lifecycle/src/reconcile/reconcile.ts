import { createSemaphore, type ReleaseWhile } from "@svc/service/semaphore";
import { annotation, type Server } from "../cluster/resource.ts";
import type { LifecycleSettings } from "../config.ts";
import { type ActDeps, act } from "./act.ts";
import { decide } from "./decide.ts";
import { createForwardingAccess } from "./forwarding.ts";
import { type ObserveDeps, observe } from "./observe.ts";
import { createPassMemories, type PassMemories } from "./pass-memory.ts";
import type { RconAccess } from "./rcon-access.ts";
import { invalidSpec } from "./rule.ts";

type ReconcileDeps = Omit<ActDeps, "rcon" | "assertMayContinue" | "forwarding"> & {
  rcon: RconAccess;
  settings: LifecycleSettings;
  now: () => number;
  /** False once another replica may lead. */
  isHeld: () => boolean;
  /** Called for every start that succeeded. */
  onStarted: (seconds: number) => void;
};

export type Reconciler = {
  /** One pass over one server; resolves with the milliseconds to the next one, if it needs one. */
  reconcile: (name: string, signal: AbortSignal) => Promise<number | undefined>;
  /** Counts the players of a server at once, and often for a while. */
  countSoon: (name: string) => void;
};

type PassDeps = ReconcileDeps & ActDeps & ObserveDeps;

/** The shell around `decide`: observe, decide, act, remember. */
export function createReconciler(deps: ReconcileDeps): Reconciler {
  const { watched, settings, now } = deps;
  const memories = createPassMemories();
  const forwarding = createForwardingAccess(settings);
  const semaphore = createSemaphore(settings.concurrency);
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
    if (isCountRequested(server, memories, now() - settings.join_count_window)) countSoon(name);
    return semaphore.run((releaseWhile) => {
      const rcon = withSlotReleased(deps.rcon, releaseWhile);
      const assertMayContinue = createPassLimit(deps);
      return pass({ ...deps, rcon, assertMayContinue, memories, forwarding, signal }, name);
    });
  };
  return { reconcile, countSoon };
}

async function pass(deps: PassDeps, name: string): Promise<number | undefined> {
  const { memories, now } = deps;
  // It may have changed or gone while this pass waited for its slot.
  const server = deps.watched.servers.get(name);
  if (!server) return 0;
  const observed = await observe(deps, server);
  const at = now();
  const rejected = (message: string) => invalidSpec(observed, at, message);
  const plan = await act(deps, observed, { plan: decide(observed, at), rejected });
  memories.keep(name, observed.memory, plan.memory);
  if (plan.status.phase === "Running" && observed.status.phase !== "Running") {
    const since = Date.parse(observed.status.startRequestedAt ?? "");
    if (!Number.isNaN(since)) deps.onStarted((at - since) / 1_000);
  }
  return plan.requeue === "on-change" ? undefined : plan.requeue.afterMs;
}

/** A pass ends when its time is up and when the lead is lost; the next one does the rest. */
function createPassLimit({ settings, isHeld }: ReconcileDeps): () => void {
  const endAt = performance.now() + settings.pass_limit;
  return () => {
    if (!isHeld()) throw new Error("this process is no longer the leader");
    if (performance.now() > endAt)
      throw new Error(`the pass took longer than ${settings.pass_limit / 1_000} s`);
  };
}

/** Servers that are slow to answer delay no other server's pass. */
function withSlotReleased(rcon: RconAccess, releaseWhile: ReleaseWhile): RconAccess {
  return {
    ...rcon,
    probe: (observed, signal) => releaseWhile(() => rcon.probe(observed, signal)),
    announce: (observed, message) => releaseWhile(() => rcon.announce(observed, message)),
    saveWorld: (observed) => releaseWhile(() => rcon.saveWorld(observed)),
  };
}

// Another replica received the report of a join; an old request was answered long ago.
function isCountRequested(server: Server, memories: PassMemories, notBefore: number): boolean {
  const request = server.metadata.annotations?.[annotation.countRequested];
  if (request === undefined || !memories.isNew(server.metadata.name, request)) return false;
  return Date.parse(request) > notBefore;
}
