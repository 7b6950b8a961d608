// The objects of a drill: a scratch volume like the world's, and a copy of the server's pod on it. Pure.

import type { PersistentVolumeClaim, Pod, StatefulSet } from "@svc/kube";
import { label } from "../job/names.ts";
import { type Pin, pinned } from "../job/pin.ts";
import { type Drill, scratchName } from "./drill.ts";

/** Label with the drill's ID on each of its objects. */
export const drillLabel = "svc.internal/drill";
const fenced = { "svc.internal/managed-by": "svc-operator", [label.component]: "server" };

type Place = { namespace: string };

export function scratchClaim(
  drill: Drill,
  world: PersistentVolumeClaim,
  { namespace }: Place,
): PersistentVolumeClaim {
  const { accessModes, resources, storageClassName } = world.spec ?? {};
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: scratchName(drill), namespace, labels: labelsOf(drill) },
    spec: {
      accessModes: accessModes ?? ["ReadWriteOnce"],
      ...(resources?.requests && { resources: { requests: resources.requests } }),
      // An empty class would select volumes that were provisioned by hand.
      ...(storageClassName && { storageClassName }),
    },
  };
}

/**
 * It runs where the scratch volume is. It lacks the server's labels, so no Service, StatefulSet or operator selects it. It runs the same code as the server, so
 * the same network policies apply (deploy/kubernetes/base/network-game.yaml).
 */
export function scratchPod(
  drill: Drill,
  set: StatefulSet,
  { namespace, pin }: Place & { pin: Pin | undefined },
): Pod {
  const { spec } = set.spec.template;
  const { nodeSelector: _anywhere, ...kept } = spec ?? { containers: [] };
  const others = (kept.volumes ?? []).filter(({ name }) => name !== "world");
  const claimName = scratchName(drill);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: claimName, namespace, labels: { ...labelsOf(drill), ...fenced } },
    spec: {
      ...kept,
      ...pinned(pin, kept),
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 5,
      volumes: [...others, { name: "world", persistentVolumeClaim: { claimName } }],
    },
  };
}

function labelsOf(drill: Drill): Record<string, string> {
  return { [drillLabel]: drill.id, [label.component]: "drill" };
}
