// A default observation: a server `survival` that should run and does. Tests change what they are about.

import { loadSettings } from "@svc/config";
import type { Pod, Service, StatefulSet } from "@svc/kube";
import type { MinecraftServerSpec, MinecraftServerStatus } from "@svc/proto";
import type { Server } from "../cluster/resource.ts";
import { settings } from "../config.ts";
import { headlessServiceOf, serviceOf } from "../reconcile/objects.ts";
import { emptyMemory, type Observed } from "../reconcile/observed.ts";
import { statefulSetOf } from "../reconcile/stateful-set.ts";

export const now = Date.parse("2026-01-01T12:00:00.000Z");
export const password = "0123456789abcdef0123456789abcdef";
export const defaults = loadSettings(settings, {}).lifecycle;

/** `secondsBefore(30)` is half a minute before `now`. */
export function secondsBefore(seconds: number): string {
  return new Date(now - seconds * 1_000).toISOString();
}

export function aServer(
  spec: Partial<MinecraftServerSpec> = {},
  metadata: Partial<Server["metadata"]> = {},
): Server {
  return {
    apiVersion: "svc.internal/v1alpha1",
    kind: "MinecraftServer",
    metadata: { name: "survival", namespace: "minecraft", uid: "server-uid", generation: 3, ...metadata },
    spec: {
      subdomain: "survival",
      image: "svc.local/demo-server:1.21.4",
      desiredState: "Running",
      fallbackServer: "login",
      rcon: { enabled: true, secretRef: { name: "survival-rcon", key: "password" } },
      ...spec,
    },
  };
}

export const emptyRunning: MinecraftServerStatus = {
  phase: "Running",
  ready: true,
  readySignalAt: secondsBefore(3_600),
  players: { online: 0, max: 20 },
};

export const startingSince = (seconds: number): MinecraftServerStatus => ({
  phase: "Starting",
  ready: false,
  startRequestedAt: secondsBefore(seconds),
});

export const failedSince = (seconds: number, reason: string, autoRestarts = 0): MinecraftServerStatus => ({
  phase: "Failed",
  ready: false,
  startRequestedAt: secondsBefore(seconds),
  autoRestarts,
  conditions: [
    { type: "Ready", status: "False", reason, message: "", lastTransitionTime: secondsBefore(1) },
    { type: "Provisioned", status: "False", reason, message: "", lastTransitionTime: secondsBefore(1) },
  ],
});

export function aPod(about: { isReady: boolean; revision?: string; isLeaving?: boolean }): Pod {
  const { isReady, revision = "rev-1", isLeaving = false } = about;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: "survival-0",
      uid: "pod-uid",
      creationTimestamp: secondsBefore(10),
      labels: { "controller-revision-hash": revision },
      ...(isLeaving && { deletionTimestamp: secondsBefore(1) }),
    },
    spec: { containers: [] },
    status: { conditions: [{ type: "Ready", status: isReady ? "True" : "False" }] },
  };
}

/** The set that the server asks for, as the cluster reports it. */
export function aStatefulSet(
  server: Server,
  about: { replicas: 0 | 1; ready?: number; left?: number; settings?: typeof defaults },
): StatefulSet {
  const { replicas, ready = 0, left = replicas } = about;
  const set = statefulSetOf({ server, settings: about.settings ?? defaults, password }, replicas);
  return {
    ...set,
    metadata: { ...set.metadata, generation: 1, resourceVersion: "7" },
    status: { replicas: left, readyReplicas: ready, updateRevision: "rev-1", observedGeneration: 1 },
  };
}

export function aService(server: Server, clusterIP: string | undefined = "10.0.0.7"): Service {
  const service = serviceOf(server, true);
  return { ...service, spec: { ...service.spec, ...(clusterIP && { clusterIP }) } };
}

type Changes = Partial<Omit<Observed, "server">> & { server?: Server };

/** Everything in place, the pod ready, the probe answered with nobody on. */
export function observedRunning(changes: Changes = {}): Observed {
  const server = changes.server ?? aServer();
  return {
    status: emptyRunning,
    statefulSet: aStatefulSet(server, { replicas: 1, ready: 1 }),
    service: aService(server),
    headless: headlessServiceOf(server),
    pod: aPod({ isReady: true }),
    node: { kind: "fine" },
    holder: undefined,
    secret: { kind: "present", password },
    forwarding: { kind: "off" },
    probe: { kind: "reached", count: { online: 0, max: 20 } },
    memory: emptyMemory,
    settings: defaults,
    ...changes,
    server,
  };
}

/** Nothing has been made yet. */
export function observedNew(changes: Changes = {}): Observed {
  return observedRunning({
    status: { phase: "Stopped" },
    statefulSet: undefined,
    service: undefined,
    headless: undefined,
    pod: undefined,
    secret: { kind: "missing", fresh: password },
    probe: { kind: "none" },
    ...changes,
  });
}

/** A pod that is there and does not accept connections. */
export function observedWaiting(changes: Changes = {}): Observed {
  const server = changes.server ?? aServer();
  return observedRunning({
    status: startingSince(10),
    statefulSet: aStatefulSet(server, { replicas: 1 }),
    pod: aPod({ isReady: false }),
    probe: { kind: "none" },
    ...changes,
  });
}
