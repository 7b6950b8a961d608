import type { KubeObject, ObjectMeta } from "../../cluster-api.ts";
import type { Pod, PodTemplate, Selector, Volume } from "../objects.ts";
import { isFinished, isReady, isTerminating } from "../objects.ts";
import { podFromTemplate, templateHash } from "../template.ts";

type ClaimTemplate = { metadata: ObjectMeta; spec: Record<string, unknown> };

export type StatefulSet = KubeObject & {
  spec: {
    replicas?: number;
    serviceName?: string;
    selector?: Selector;
    template: PodTemplate;
    volumeClaimTemplates?: ClaimTemplate[];
    podManagementPolicy?: string;
    updateStrategy?: { type?: string; rollingUpdate?: { partition?: number } };
  };
  status?: { currentRevision?: string };
};

type Observed = {
  set: StatefulSet;
  /** The pods that the set controls. */
  pods: Pod[];
  /** Names of claims that are being deleted; no pod may be created with one. */
  dyingClaims: Set<string>;
};

export type Plan = { create: Pod[]; claims: KubeObject[]; delete: Pod[]; status: Record<string, unknown> };

const REVISION = "controller-revision-hash";

function ordinalOf(set: KubeObject, pod: KubeObject): number {
  const tail = pod.metadata.name.slice(set.metadata.name.length + 1);
  return /^\d+$/.test(tail) ? Number(tail) : -1;
}

export function revisionOf(set: StatefulSet): string {
  return `${set.metadata.name}-${templateHash(set.spec.template)}`;
}

function claimName(set: StatefulSet, template: ClaimTemplate, ordinal: number): string {
  return `${template.metadata.name}-${set.metadata.name}-${ordinal}`;
}

function claimsFor(set: StatefulSet, ordinal: number): KubeObject[] {
  return (set.spec.volumeClaimTemplates ?? []).map((template) => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {
      name: claimName(set, template, ordinal),
      namespace: set.metadata.namespace ?? "default",
      labels: { ...template.metadata.labels, ...set.spec.selector?.matchLabels },
      ...(template.metadata.annotations === undefined ? {} : { annotations: template.metadata.annotations }),
    },
    spec: structuredClone(template.spec),
  }));
}

function podFor(set: StatefulSet, ordinal: number): Pod {
  const name = `${set.metadata.name}-${ordinal}`;
  const pod = podFromTemplate({
    owner: set,
    template: set.spec.template,
    name,
    labels: {
      [REVISION]: revisionOf(set),
      "statefulset.kubernetes.io/pod-name": name,
      "apps.kubernetes.io/pod-index": String(ordinal),
    },
  });
  const templates = set.spec.volumeClaimTemplates ?? [];
  const taken = new Set(templates.map((one) => one.metadata.name));
  const claims: Volume[] = templates.map((one) => ({
    name: one.metadata.name,
    persistentVolumeClaim: { claimName: claimName(set, one, ordinal) },
  }));
  const others = (pod.spec.volumes ?? []).filter((one) => !taken.has(one.name));
  pod.spec.hostname = name;
  if (set.spec.serviceName !== undefined) pod.spec.subdomain = set.spec.serviceName;
  if (claims.length + others.length > 0) pod.spec.volumes = [...claims, ...others];
  return pod;
}

function statusOf({ set, pods }: Observed): Record<string, unknown> {
  const update = revisionOf(set);
  const alive = pods.filter((pod) => !isFinished(pod));
  const updated = alive.filter((pod) => pod.metadata.labels?.[REVISION] === update).length;
  const ready = alive.filter(isReady).length;
  const rolledOut =
    updated === alive.length && ready === alive.length && alive.length === (set.spec.replicas ?? 1);
  const current = rolledOut ? update : (set.status?.currentRevision ?? update);
  return {
    observedGeneration: set.metadata.generation ?? 1,
    replicas: alive.length,
    readyReplicas: ready,
    availableReplicas: ready,
    currentReplicas: alive.filter((pod) => pod.metadata.labels?.[REVISION] === current).length,
    updatedReplicas: updated,
    currentRevision: current,
    updateRevision: update,
    collisionCount: 0,
  };
}

type Steps = { create: number[]; delete: Pod[] };

/** Creates missing pods below `replicas`; false while an ordinal must become ready before the next one. */
function fill(observed: Observed, byOrdinal: Map<number, Pod>, steps: Steps): boolean {
  const { set, dyingClaims } = observed;
  const ordered = set.spec.podManagementPolicy !== "Parallel";
  for (let ordinal = 0; ordinal < (set.spec.replicas ?? 1); ordinal += 1) {
    const pod = byOrdinal.get(ordinal);
    const settled = pod !== undefined && !isTerminating(pod) && !isFinished(pod) && isReady(pod);
    if (pod === undefined) {
      if (!claimsFor(set, ordinal).some((claim) => dyingClaims.has(claim.metadata.name)))
        steps.create.push(ordinal);
    } else if (isFinished(pod) && !isTerminating(pod)) {
      steps.delete.push(pod);
    }
    if (ordered && !settled) return false;
  }
  return true;
}

/** Removes pods from the highest ordinal down; false while one is still terminating. */
function shrink({ set }: Observed, byOrdinal: Map<number, Pod>, steps: Steps): boolean {
  const ordered = set.spec.podManagementPolicy !== "Parallel";
  const surplus = [...byOrdinal].filter(([ordinal]) => ordinal >= (set.spec.replicas ?? 1) || ordinal < 0);
  for (const [, pod] of surplus.sort(([a], [b]) => b - a)) {
    if (!isTerminating(pod)) steps.delete.push(pod);
    if (ordered) return false;
  }
  return surplus.length === 0;
}

function roll({ set }: Observed, byOrdinal: Map<number, Pod>, steps: Steps): void {
  if (set.spec.updateStrategy?.type === "OnDelete") return;
  const partition = set.spec.updateStrategy?.rollingUpdate?.partition ?? 0;
  const update = revisionOf(set);
  for (const [ordinal, pod] of [...byOrdinal].sort(([a], [b]) => b - a)) {
    if (ordinal < partition) return;
    if (isTerminating(pod)) return;
    if (pod.metadata.labels?.[REVISION] !== update) {
      steps.delete.push(pod);
      return;
    }
    if (!isReady(pod)) return;
  }
}

/**
 * One step of a StatefulSet, in the order of Kubernetes: scale up from ordinal 0, then down from the highest, then
 * replace the highest pod of an old revision. With OrderedReady each waits until the pods before it are ready.
 */
export function decide(observed: Observed): Plan {
  const { set, pods } = observed;
  const steps: Steps = { create: [], delete: [] };
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod), pod]));
  if (!isTerminating(set) && fill(observed, byOrdinal, steps) && shrink(observed, byOrdinal, steps)) {
    roll(observed, byOrdinal, steps);
  }
  return {
    create: steps.create.map((ordinal) => podFor(set, ordinal)),
    claims: steps.create.flatMap((ordinal) => claimsFor(set, ordinal)),
    delete: steps.delete,
    status: statusOf(observed),
  };
}
