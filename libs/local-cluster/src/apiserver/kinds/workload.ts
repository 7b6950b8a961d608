import type { KubeObject } from "../../cluster-api.ts";
import { fieldError, type StatusCause } from "../field-error.ts";
import { isObject, type JsonObject, jsonEqual, listAt, objectAt, stringAt } from "../json.ts";
import { matchesLabelSelector } from "../selector.ts";
import { defaultClaimSpec } from "./claim-spec.ts";
import { defaultTemplate, validatePodSpec } from "./pod.ts";
import type { Strategy } from "./strategy.ts";

function specOf(object: KubeObject): JsonObject {
  return isObject(object.spec) ? object.spec : {};
}

function validateSelector(spec: JsonObject): StatusCause[] {
  const selector = spec["selector"];
  if (!isObject(selector)) return [fieldError.required("spec.selector")];
  const labels = objectAt(objectAt(objectAt(spec, "template"), "metadata"), "labels") as Record<
    string,
    string
  >;
  if (Object.keys(selector).length === 0) {
    return [fieldError.invalid("spec.selector", selector, "empty selector is invalid for deployment")];
  }
  if (matchesLabelSelector(selector, labels)) return [];
  return [
    fieldError.invalid(
      "spec.template.metadata.labels",
      labels,
      "`selector` does not match template `labels`",
    ),
  ];
}

function validateWorkload(object: KubeObject): StatusCause[] {
  const spec = specOf(object);
  const causes = validateSelector(spec);
  const replicas = spec["replicas"];
  if (typeof replicas === "number" && replicas < 0) {
    causes.push(fieldError.invalid("spec.replicas", replicas, "must be greater than or equal to 0"));
  }
  const template = objectAt(objectAt(spec, "template"), "spec");
  const claims = listAt(spec, "volumeClaimTemplates").map((claim) =>
    stringAt(objectAt(claim, "metadata"), "name"),
  );
  return [...causes, ...validatePodSpec(template, "spec.template.spec", { policies: ["Always"], claims })];
}

function selectorFixed(next: KubeObject, previous: KubeObject): StatusCause[] {
  const before = specOf(previous)["selector"];
  const after = specOf(next)["selector"];
  return jsonEqual(before, after) ? [] : [fieldError.invalid("spec.selector", after, "field is immutable")];
}

function withTemplate(spec: JsonObject): JsonObject {
  return isObject(spec["template"]) ? { ...spec, template: defaultTemplate(spec["template"]) } : spec;
}

const changeableStatefulSet = [
  "replicas",
  "template",
  "updateStrategy",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
  "ordinals",
  "revisionHistoryLimit",
];
const statefulSetText =
  "updates to statefulset spec for fields other than 'replicas', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

function fixedPart(object: KubeObject): JsonObject {
  return Object.fromEntries(
    Object.entries(specOf(object)).filter(([key]) => !changeableStatefulSet.includes(key)),
  );
}

function defaultUpdateStrategy(value: unknown): JsonObject {
  const strategy: JsonObject = { type: "RollingUpdate", ...(isObject(value) ? value : {}) };
  if (strategy["type"] !== "RollingUpdate") return strategy;
  return { ...strategy, rollingUpdate: { partition: 0, ...objectAt(strategy, "rollingUpdate") } };
}

/** StatefulSets. */
export const statefulSetStrategy: Strategy = {
  defaults: (set) => {
    const spec: JsonObject = {
      podManagementPolicy: "OrderedReady",
      replicas: 1,
      revisionHistoryLimit: 10,
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
      ...withTemplate(specOf(set)),
    };
    spec["updateStrategy"] = defaultUpdateStrategy(spec["updateStrategy"]);
    if (Array.isArray(spec["volumeClaimTemplates"])) {
      spec["volumeClaimTemplates"] = listAt(spec, "volumeClaimTemplates").map(defaultClaimTemplate);
    }
    return { ...set, spec };
  },
  onCreate: (set) => ({ ...set, status: { replicas: 0 } }),
  validate: validateWorkload,
  validateUpdate: (next, previous) =>
    jsonEqual(fixedPart(next), fixedPart(previous)) ? [] : [fieldError.forbidden("spec", statefulSetText)],
};

function defaultClaimTemplate(template: unknown): unknown {
  if (!isObject(template)) return template;
  const metadata = { creationTimestamp: null, ...objectAt(template, "metadata") };
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    ...template,
    metadata,
    spec: defaultClaimSpec(objectAt(template, "spec")),
    status: { phase: "Pending" },
  };
}

/** Deployments. */
export const deploymentStrategy: Strategy = {
  defaults: (deployment) => {
    const spec: JsonObject = {
      replicas: 1,
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      ...withTemplate(specOf(deployment)),
    };
    const strategy: JsonObject = { type: "RollingUpdate", ...objectAt(spec, "strategy") };
    if (strategy["type"] === "RollingUpdate") {
      strategy["rollingUpdate"] = {
        maxUnavailable: "25%",
        maxSurge: "25%",
        ...objectAt(strategy, "rollingUpdate"),
      };
    }
    return { ...deployment, spec: { ...spec, strategy } };
  },
  onCreate: (deployment) => ({ ...deployment, status: {} }),
  validate: validateWorkload,
  validateUpdate: selectorFixed,
};

/** ReplicaSets. */
export const replicaSetStrategy: Strategy = {
  defaults: (set) => ({ ...set, spec: { replicas: 1, ...withTemplate(specOf(set)) } }),
  onCreate: (set) => ({ ...set, status: { replicas: 0 } }),
  validate: validateWorkload,
  validateUpdate: selectorFixed,
};

/** Jobs: the selector and its labels are generated from the job's uid, as in Kubernetes. */
export const jobStrategy: Strategy = {
  defaults: (job) => {
    const spec: JsonObject = { ...withTemplate(specOf(job)) };
    if (spec["completions"] === undefined && spec["parallelism"] === undefined) spec["completions"] = 1;
    return {
      ...job,
      spec: { parallelism: 1, backoffLimit: 6, completionMode: "NonIndexed", suspend: false, ...spec },
    };
  },
  onCreate: (job, { uid }) => {
    const spec = specOf(job);
    if (spec["manualSelector"] === true) return { ...job, status: {} };
    const labels = {
      "batch.kubernetes.io/controller-uid": uid,
      "batch.kubernetes.io/job-name": job.metadata.name,
      "controller-uid": uid,
      "job-name": job.metadata.name,
    };
    const template = objectAt(spec, "template");
    const metadata = objectAt(template, "metadata");
    const marked = {
      ...template,
      metadata: { ...metadata, labels: { ...objectAt(metadata, "labels"), ...labels } },
    };
    const selector = { matchLabels: { "batch.kubernetes.io/controller-uid": uid } };
    const own = Object.keys(job.metadata.labels ?? {}).length > 0 ? job.metadata.labels : labels;
    return {
      ...job,
      metadata: { ...job.metadata, ...(own ? { labels: own } : {}) },
      spec: { ...spec, selector, template: marked },
      status: {},
    };
  },
  validate: (job) => {
    const template = objectAt(objectAt(specOf(job), "template"), "spec");
    return validatePodSpec(template, "spec.template.spec", { policies: ["OnFailure", "Never"] });
  },
  validateUpdate: (next, previous) =>
    ["selector", "template", "completions", "completionMode"].flatMap((key) => {
      const value = specOf(next)[key];
      if (jsonEqual(value, specOf(previous)[key])) return [];
      return [fieldError.invalid(`spec.${key}`, value, "field is immutable")];
    }),
};
