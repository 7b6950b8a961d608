// What is wrong with an installation, and what to do about it (docs/reference/cli.md#doctor-of-a-cluster). Pure.

import type { CustomResourceDefinition } from "@svc/kube";
import type { Finding } from "../../findings.ts";
import type { KubernetesObject } from "../../manifests/installation.ts";
import { type Expected, templateOf } from "./expected.ts";
import { conditionOf, nodeFindings, volumeFinding } from "./nodes.ts";
import { type Found, keyOf, type Observed } from "./observe.ts";
import { explainPod, restartsOf } from "./pods.ts";

/** The commands that mend something, with the values that were given. */
export type Hints = { prerequisites: string; objects: string };

type Judged = { expected: Expected; observed: Observed; hints: Hints };

export function judge(judged: Judged, definition: CustomResourceDefinition): Finding[] {
  const { expected, observed } = judged;
  return [
    fine("API server", observed.version),
    ...nodeFindings(expected, observed),
    definitionFinding(judged, definition),
    ...presence(judged),
    ...secretFindings(expected, observed),
    ...expected.objects.flatMap((object) => {
      const found = observed.objects.get(keyOf(object));
      return found ? (states[object.kind]?.({ object, found, observed }) ?? []) : [];
    }),
  ];
}

const fine = (check: string, detail: string): Finding => ({ check, ok: true, detail });
const bad = (check: string, detail: string): Finding => ({ check, ok: false, detail });
function definitionFinding({ observed, hints }: Judged, shipped: CustomResourceDefinition): Finding {
  const check = "custom resource";
  const { definition } = observed;
  if (!definition) return bad(check, `is missing; run ${hints.prerequisites}`);
  const established = conditionOf(definition.status?.conditions, "Established")?.status === "True";
  if (!established) return bad(check, "is not established; see kubectl describe crd");
  const old = missingIn(definition.spec, shipped.spec);
  if (old === undefined) return fine(check, "is that of this release");
  return bad(check, `is of another release (${old}); run ${hints.prerequisites}`);
}

/** The first field of `wanted` that `found` lacks or has otherwise; the API server may add fields. */
export function missingIn(found: unknown, wanted: unknown, path = "spec"): string | undefined {
  if (typeof wanted !== "object" || wanted === null) return found === wanted ? undefined : path;
  for (const [key, one] of Object.entries(wanted)) {
    const below = Array.isArray(wanted) ? `${path}[${key}]` : `${path}.${key}`;
    const missing = missingIn((found as Record<string, unknown> | undefined)?.[key], one, below);
    if (missing !== undefined) return missing;
  }
  return undefined;
}

function presence({ expected, observed, hints }: Judged): Finding[] {
  const check = (objects: readonly KubernetesObject[], run: string): Finding[] =>
    objects.flatMap((object) => {
      const version = `${object.apiVersion} ${object.kind}`;
      if (observed.unserved.has(version)) return [];
      const { kind, metadata } = object;
      return observed.objects.has(keyOf(object))
        ? []
        : [bad(`${kind} ${metadata.name}`, `is missing; run ${run}`)];
    });
  const missing = [
    ...check(expected.prerequisites, hints.prerequisites),
    ...check(expected.objects, hints.objects),
  ];
  const unserved = [...observed.unserved].map((kind) =>
    bad("API server", `does not serve ${kind}; svc needs Kubernetes 1.25 or later, or the operator it is of`),
  );
  const count = expected.prerequisites.length + expected.objects.length;
  if (missing.length + unserved.length === 0) return [fine("objects", `all ${count} are there`)];
  return [...unserved, ...missing];
}

function secretFindings({ secrets }: Expected, { secretKeys }: Observed): Finding[] {
  return secrets.map(({ namespace, name, keys }) => {
    const check = `Secret ${name}`;
    const found = secretKeys.get(`${namespace}/${name}`);
    if (!found) return bad(check, `is missing in ${namespace}; docs/install.md, step 3, says how to make it`);
    const lacks = keys.filter((key) => !found.includes(key));
    if (lacks.length > 0)
      return bad(check, `lacks ${lacks.join(", ")}; docs/install.md, step 3, names its keys`);
    return fine(check, keys.length > 0 ? `has ${keys.join(", ")}` : "is there");
  });
}

type Pair = { object: KubernetesObject; found: Found; observed: Observed };

const states: Record<string, (pair: Pair) => Finding[]> = {
  Deployment: workload,
  StatefulSet: workload,
  Job: (pair) => [jobFinding(pair)],
  CronJob: (pair) => cronJobFinding(pair.found),
  PersistentVolume: ({ object, found }) => volumeFinding(object, found),
  PersistentVolumeClaim: ({ found }) => claimFinding(found),
  Service: ({ found }) => serviceFinding(found),
};

const imagesOf = (object: KubernetesObject) =>
  (templateOf(object)?.spec?.containers ?? []).map(({ image }) => image ?? "").join(", ");

function podsOf({ found, observed }: Pair) {
  const wanted = Object.entries((found.spec?.["selector"]?.matchLabels ?? {}) as Record<string, string>);
  return observed.pods.filter(
    ({ metadata: { namespace, labels = {} } }) =>
      namespace === found.metadata.namespace && wanted.every(([key, value]) => labels[key] === value),
  );
}

function workload(pair: Pair): Finding[] {
  const { object, found } = pair;
  const check = `${object.kind} ${object.metadata.name}`;
  const { replicas: wanted = 1 } = found.spec ?? {};
  const { readyReplicas: ready = 0, updatedReplicas: updated = 0 } = found.status ?? {};
  const [image, runs] = [imagesOf(object), imagesOf(found)];
  if (image !== runs)
    return [bad(check, `has the image ${runs}, the values say ${image}; apply the objects of one release`)];
  const pods = podsOf(pair);
  const restarts = pods.reduce((sum, pod) => sum + restartsOf(pod), 0);
  const count = `${ready} of ${wanted} ready${restarts > 0 ? `, ${restarts} restarts` : ""}`;
  const why = pods.flatMap((pod) => explainPod(pod) ?? []);
  if (ready < wanted) return [bad(check, [count, why[0] ?? "wait, or see kubectl describe"].join("; "))];
  if (updated < wanted)
    return [bad(check, `${updated} of ${wanted} are of this release; the rollout goes on`)];
  return [fine(check, `${count}, ${image}`)];
}

function jobFinding(pair: Pair): Finding {
  const { object, found } = pair;
  const check = `Job ${object.metadata.name}`;
  const conditions = found.status?.["conditions"];
  if (conditionOf(conditions, "Complete")?.status === "True") return fine(check, "is complete");
  const failed = conditionOf(conditions, "Failed");
  const log = `kubectl -n ${object.metadata.namespace} logs job/${object.metadata.name}`;
  if (failed?.status === "True")
    return bad(check, `has failed: ${failed.message ?? "no reason is given"}; see ${log}`);
  const why = podsOf(pair).flatMap((pod) => explainPod(pod) ?? []);
  return bad(check, `is not complete: ${why[0] ?? "it is under way"}; see ${log}`);
}

function cronJobFinding(found: Found): Finding[] {
  const check = `CronJob ${found.metadata.name}`;
  const { lastScheduleTime: last, lastSuccessfulTime: success, active = [] } = found.status ?? {};
  if (found.spec?.["suspend"] === true) return [bad(check, "is suspended")];
  if (last === undefined) return [fine(check, "has not been due yet")];
  if (active.length > 0 || (success !== undefined && success >= last))
    return [fine(check, `last run ${last}${active.length > 0 ? ", under way" : ""}`)];
  return [bad(check, `the run of ${last} failed; see the logs of its Job`)];
}

function claimFinding(found: Found): Finding[] {
  const check = `claim ${found.metadata.name}`;
  const { phase = "Pending" } = found.status ?? {};
  if (phase === "Bound") return [fine(check, "is bound")];
  return [
    bad(check, `is ${phase}; see kubectl -n ${found.metadata.namespace} describe pvc ${found.metadata.name}`),
  ];
}

function serviceFinding(found: Found): Finding[] {
  const { name, namespace } = found.metadata;
  if (found.spec?.["type"] !== "LoadBalancer") return [];
  const addresses = (found.status?.["loadBalancer"]?.ingress ?? []) as { ip?: string; hostname?: string }[];
  const known = addresses.flatMap(({ ip, hostname }) => ip ?? hostname ?? []);
  if (known.length > 0) return [fine(`Service ${name}`, known.join(", "))];
  const detail = `no address yet: does this cluster have load balancers? See kubectl -n ${namespace} describe service ${name}`;
  return [bad(`Service ${name}`, detail)];
}
