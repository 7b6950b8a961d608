// What the objects of all parts share.

import { type ObjectTemplate, type Refs, type Template, when } from "../template/expression.ts";
import type { Values } from "../values/schema.ts";

export type V = Refs<Values>;
/** Objects that belong together, in one file. */
export type ObjectFile = { file: string; about: string; objects: readonly ObjectTemplate[] };

export const healthPort = 9090;
export const gamePort = 25_565;
export const sftpPort = 2_222;

export function selectorOf(name: string) {
  return { "app.kubernetes.io/name": name };
}

export function labelsOf(name: string) {
  return { ...selectorOf(name), "app.kubernetes.io/part-of": "svc" };
}

type Meta = { apiVersion: string; kind: string; name: Template; namespace?: Template; labels?: Template };

/** An object without its content. */
export function head({ apiVersion, kind, name, namespace, labels }: Meta) {
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace && { namespace }), ...(labels && { labels }) },
  };
}

/** What a container may do: nothing that the Pod Security level `restricted` forbids. */
export const confined = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};

/** A pod as an account that is not root; volumes get its group once, not at every start. */
export const asUser = (id: number) => ({
  runAsNonRoot: true,
  runAsUser: id,
  runAsGroup: id,
  fsGroup: id,
  fsGroupChangePolicy: "OnRootMismatch",
  seccompProfile: { type: "RuntimeDefault" },
});
export const user = 1000;

type Resources = Refs<{ cpu: string; memory: string; memoryLimit: string }>;

export function resourcesOf({ cpu, memory, memoryLimit }: Resources) {
  return { requests: { cpu, memory }, limits: { memory: memoryLimit } };
}

export function secretVariable(name: string, secret: Template, key: string) {
  return { name, valueFrom: { secretKeyRef: { name: secret, key } } };
}

/** Unset while the Secret does not have the key. */
export function optionalVariable(name: string, secret: Template, key: string) {
  return { name, valueFrom: { secretKeyRef: { name: secret, key, optional: true } } };
}

export const healthPorts = [{ name: "health", containerPort: healthPort, protocol: "TCP" }];

/** Probes of a process of svc. */
export const probes = {
  startupProbe: { httpGet: { port: "health", path: "/healthz" }, periodSeconds: 2, failureThreshold: 60 },
  readinessProbe: { httpGet: { port: "health", path: "/readyz" }, periodSeconds: 5 },
  livenessProbe: { httpGet: { port: "health", path: "/healthz" }, periodSeconds: 20, timeoutSeconds: 5 },
};

export const healthVariables = [
  { name: "SVC_HEALTH_HOST", value: "0.0.0.0" },
  { name: "SVC_HEALTH_PORT", value: String(healthPort) },
];

/** Where the pods of one part run: on the nodes of the control plane, apart from each other. */
export function placement(v: V, name: string) {
  return {
    nodeSelector: v.scheduling.nodeSelector,
    tolerations: v.scheduling.tolerations,
    topologySpreadConstraints: ["topology.kubernetes.io/zone", "kubernetes.io/hostname"].map(
      (topologyKey) => ({
        maxSkew: 1,
        topologyKey,
        whenUnsatisfiable: v.scheduling.spread,
        labelSelector: { matchLabels: selectorOf(name) },
      }),
    ),
  };
}

/** An emptyDir, or what else a pod mounts, with where it is mounted. */
export type Mount = { name: string; at: string; from: Template; readOnly?: boolean };

export function volumesOf(mounts: readonly Mount[]) {
  return mounts.map(({ name, from }) => ({ name, ...(from as object) }));
}

export function volumeMountsOf(mounts: readonly Mount[]) {
  return mounts.map(({ name, at, readOnly }) => ({ name, mountPath: at, ...(readOnly && { readOnly }) }));
}

export const scratch = (name: string, at: string, sizeLimit: string): Mount => ({
  name,
  at,
  from: { emptyDir: { sizeLimit } },
});

/** Spec of a claim for a volume of one node; without a class the cluster's default one. */
export const claimSpec = ({ storageClass, size }: V["nats"]["storage"]): Template => ({
  accessModes: ["ReadWriteOnce"],
  storageClassName: when(storageClass, storageClass),
  resources: { requests: { storage: size } },
});

export const claim = (name: string, at: string, claimName: string): Mount => ({
  name,
  at,
  from: { persistentVolumeClaim: { claimName } },
});
