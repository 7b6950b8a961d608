import { tolerated } from "../controllers/context.ts";
import type { Pod } from "../controllers/objects.ts";
import { isFinished, isTerminating } from "../controllers/objects.ts";
import { PODS } from "../controllers/refs.ts";
import { removeTree } from "../remove-tree.ts";
import type { AddressPool } from "./address-pool.ts";
import { podPaths } from "./paths.ts";
import type { PodDeps, StopReason } from "./pod-worker.ts";
import { PodWorker } from "./pod-worker.ts";

type AgentDeps = Omit<PodDeps, "facts" | "paths"> & {
  addresses: AddressPool;
  podsDir: string;
};

type NodeAgent = {
  /** Terminates every pod of the node within the grace period, as at the shutdown of a machine. */
  close(graceMs: number): Promise<void>;
};

type Entry = { worker: PodWorker; stopped?: { graceMs: number; over: Promise<void> } };

/** Runs the pods that are bound to one node: a worker for each active pod, none for one that has ended. */
export function startNodeAgent(deps: AgentDeps, nodeName: string, hostIP: string): NodeAgent {
  const { api, pods, addresses, podsDir, warn } = deps;
  const entries = new Map<string, Entry>();
  let closing = false;

  const start = (pod: Pod): Entry => {
    const uid = pod.metadata.uid ?? "";
    const podIP = addresses.take(uid, pod.status?.podIP);
    const facts = { pod, podIP, hostIP };
    const entry: Entry = { worker: new PodWorker({ ...deps, facts, paths: podPaths(podsDir, uid) }) };
    entries.set(uid, entry);
    return entry;
  };
  // A later stop with less grace must reach containers that an earlier one still waits for.
  const stop = (entry: Entry, reason: StopReason, graceMs: number): Promise<void> => {
    if (entry.stopped === undefined || graceMs < entry.stopped.graceMs) {
      entry.stopped = { graceMs, over: entry.worker.stop(reason, graceMs) };
    }
    return entry.stopped.over;
  };
  const confirm = async (pod: Pod) => {
    const { name, namespace = "default", uid = "" } = pod.metadata;
    const options = { gracePeriodSeconds: 0, preconditions: { uid } };
    await tolerated([404, 409], () => api.delete(PODS, { name, namespace }, options));
  };
  const end = async (pod: Pod): Promise<void> => {
    const uid = pod.metadata.uid ?? "";
    const seconds = pod.metadata.deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 30;
    const entry = entries.get(uid) ?? (isFinished(pod) ? undefined : start(pod));
    if (entry !== undefined) await stop(entry, "deleted", seconds * 1000);
    // Already confirmed when the seconds are 0: then only a finalizer still keeps the object.
    const now = pods.get(`${pod.metadata.namespace}/${pod.metadata.name}`);
    if (now?.metadata.uid === uid && (now.metadata.deletionGracePeriodSeconds ?? 1) > 0) await confirm(pod);
  };
  const forget = async (pod: Pod): Promise<void> => {
    const uid = pod.metadata.uid ?? "";
    const entry = entries.get(uid);
    if (entry !== undefined) await stop(entry, "deleted", 0);
    entries.delete(uid);
    await deps.sandbox?.close(pod);
    addresses.release(uid);
    await removeTree(podPaths(podsDir, uid).dir);
  };
  const guard = (pod: Pod, task: Promise<void>) => {
    task.catch((error: unknown) =>
      warn(`pod ${pod.metadata.namespace}/${pod.metadata.name}: ${String(error)}`),
    );
  };
  pods.onChange((pod, _previous, deleted) => {
    if (pod.spec.nodeName !== nodeName || closing) return;
    if (deleted) guard(pod, forget(pod));
    else if (isTerminating(pod)) guard(pod, end(pod));
    else if (!isFinished(pod) && !entries.has(pod.metadata.uid ?? "")) start(pod);
  });
  return {
    close: async (graceMs) => {
      closing = true;
      const all = [...entries.values()].map((entry) => stop(entry, "shutdown", graceMs));
      await Promise.all(all);
    },
  };
}
