// When a wake or a stop that was accepted shows in the cluster: first that the server's set asks for its pod (lifecycle's own
// time), then the phase that lifecycle wrote (with the time of the cluster and of RCON).

import { connectKube, resources, startInformer } from "@svc/kube";
import { createLogger } from "@svc/telemetry";
import { servers } from "../../services/lifecycle/src/cluster/resource.ts";
import type { BenchStack } from "../bench/harness/stack.ts";
import { namespace } from "./fleet.ts";

export type Kind = "wake" | "stop";
export type Followed = {
  kind: Kind;
  name: string;
  acceptedMs: number;
  setMs: number;
  phaseMs: number;
  at: number;
};

type Waiting = { kind: Kind; askedAt: number; acceptedMs: number; setMs?: number };

export type Follower = {
  /** Call it right before the request is sent. */
  begin: (kind: Kind, name: string) => void;
  accepted: (name: string) => void;
  /** The request was refused. */
  forget: (name: string) => void;
  waiting: () => number;
  /** What has arrived since this was asked last. */
  take: () => Followed[];
  stop: () => Promise<void>;
};

const wanted: Record<Kind, { replicas: number; phase: string }> = {
  wake: { replicas: 1, phase: "Running" },
  stop: { replicas: 0, phase: "Stopped" },
};

export async function followChanges(stack: BenchStack): Promise<Follower> {
  const kube = connectKube({ kubeconfigFile: stack.file().kubeconfig });
  const waiting = new Map<string, Waiting>();
  let done: Followed[] = [];
  const shared = { kube, namespace, log: createLogger("scale", "silent") };
  const sets = startInformer({
    ...shared,
    resource: resources.statefulSets,
    onChange: (name, now) => {
      const one = waiting.get(name);
      if (one && (now?.spec.replicas ?? 0) === wanted[one.kind].replicas)
        one.setMs ??= performance.now() - one.askedAt;
    },
  });
  const objects = startInformer({
    ...shared,
    resource: servers,
    // Nothing but the phase is read, and fifty thousand are kept.
    strip: ({ metadata, status, ...rest }) =>
      ({
        ...rest,
        metadata,
        spec: { subdomain: "", image: "" },
        ...(status && { status: { phase: status.phase } }),
      }) as never,
    onChange: (name, now) => {
      const one = waiting.get(name);
      if (!one || now?.status?.phase !== wanted[one.kind].phase) return;
      waiting.delete(name);
      const phaseMs = performance.now() - one.askedAt;
      const { kind, acceptedMs, setMs = phaseMs } = one;
      done.push({ kind, name, acceptedMs, setMs, phaseMs, at: Date.now() });
    },
  });
  await Promise.all([sets.ready, objects.ready]);
  return {
    begin: (kind, name) => void waiting.set(name, { kind, askedAt: performance.now(), acceptedMs: 0 }),
    accepted: (name) => {
      const one = waiting.get(name);
      if (one) one.acceptedMs = performance.now() - one.askedAt;
    },
    forget: (name) => void waiting.delete(name),
    waiting: () => waiting.size,
    take: () => {
      const taken = done;
      done = [];
      return taken;
    },
    stop: async () => {
      await Promise.all([sets.stop(), objects.stop()]);
      kube.close();
    },
  };
}
