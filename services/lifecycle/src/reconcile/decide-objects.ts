import { annotation, hasRcon } from "../cluster/resource.ts";
import { headlessServiceOf, isServiceStale, rconSecretOf, serviceOf } from "./objects.ts";
import { isAtRest, type Observed, replicasOf } from "./observed.ts";
import type { Effect } from "./plan.ts";
import { statefulSetOf } from "./stateful-set.ts";

export type ObjectPlan = { effects: Effect[]; isTemplateChanged: boolean };

/** The effects that bring the objects of a server that should run up to date (docs/reference/server-states.md#pass). */
export function decideObjects(observed: Observed): ObjectPlan {
  const { server, service, headless, secret, forwarding, statefulSet, settings } = observed;
  const effects: Effect[] = [];
  const wanted = serviceOf(server, true);
  if (!service) effects.push({ kind: "create-service", service: wanted });
  else if (isServiceStale(service, wanted)) effects.push({ kind: "patch-service", service: wanted });
  if (!headless) effects.push({ kind: "create-service", service: headlessServiceOf(server) });
  if (secret.kind === "missing")
    effects.push({ kind: "create-secret", secret: rconSecretOf(server, secret.fresh) });
  // A password that cannot be read now must not restart a pod that has it.
  if (hasRcon(server) && secret.kind !== "present" && secret.kind !== "missing") {
    return { effects, isTemplateChanged: false };
  }
  if (forwarding.kind === "unusable") return { effects, isTemplateChanged: false };
  if (forwarding.kind === "on" && forwarding.content !== undefined && !forwarding.isWritten)
    effects.push({ kind: "write-forwarding-secret", content: forwarding.content });
  const password =
    secret.kind === "present" ? secret.password : secret.kind === "missing" ? secret.fresh : undefined;
  const next = statefulSetOf({ server, settings, password, isForwarded: forwarding.kind === "on" }, 1);
  if (!statefulSet) {
    effects.push({ kind: "create-stateful-set", statefulSet: next });
    return { effects, isTemplateChanged: false };
  }
  if (hasOwnClaim(statefulSet) !== hasOwnClaim(next)) {
    // The pod of the old set would mount the old world, so nothing changes before it is gone.
    if (isAtRest(observed))
      effects.push({ kind: "replace-stateful-set", current: statefulSet, statefulSet: next });
    return { effects, isTemplateChanged: false };
  }
  const differs = (key: string) =>
    statefulSet.metadata.annotations?.[key] !== next.metadata.annotations?.[key];
  const isTemplateChanged = differs(annotation.podTemplate);
  // What waits for the next start no longer waits once the pod is gone: the cluster may refuse to make it as it was.
  const isLeftOver = observed.pod === undefined && differs(annotation.wholePodTemplate);
  if (isTemplateChanged || isLeftOver || replicasOf(observed) !== 1) {
    effects.push({ kind: "update-stateful-set", current: statefulSet, statefulSet: next });
  }
  return { effects, isTemplateChanged };
}

// A world that was moved lies in a volume with a name of its own, which a set with a claim template would ignore.
function hasOwnClaim({ spec }: { spec: { volumeClaimTemplates?: unknown[] } }): boolean {
  return (spec.volumeClaimTemplates?.length ?? 0) > 0;
}
