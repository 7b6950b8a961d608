import type { KubeObject } from "../../cluster-api.ts";
import { fieldError, type StatusCause } from "../field-error.ts";
import { isObject, type JsonObject, jsonEqual, listAt, objectAt, stringAt } from "../json.ts";
import { dns1123Label } from "../metadata/names.ts";
import type { Strategy } from "./strategy.ts";

const podDefaults = {
  restartPolicy: "Always",
  terminationGracePeriodSeconds: 30,
  dnsPolicy: "ClusterFirst",
  securityContext: {},
  schedulerName: "default-scheduler",
};

/** A pod spec with the defaults that every pod template and pod gets. */
function defaultPodSpec(spec: JsonObject): JsonObject {
  const out: JsonObject = { ...podDefaults, ...spec };
  for (const key of ["containers", "initContainers"]) {
    if (Array.isArray(spec[key])) out[key] = listAt(spec, key).map(defaultContainer);
  }
  if (Array.isArray(spec["volumes"])) out["volumes"] = listAt(spec, "volumes").map(defaultVolume);
  if (typeof spec["serviceAccountName"] === "string") out["serviceAccount"] = spec["serviceAccountName"];
  return out;
}

/** A pod template with the defaults of its spec. */
export function defaultTemplate(template: JsonObject): JsonObject {
  const metadata = { creationTimestamp: null, ...objectAt(template, "metadata") };
  return { ...template, metadata, spec: defaultPodSpec(objectAt(template, "spec")) };
}

function defaultContainer(container: unknown): unknown {
  if (!isObject(container)) return container;
  const image = stringAt(container, "image");
  const latest = image.endsWith(":latest") || !/[:@][^/]*$/.test(image);
  const out: JsonObject = {
    resources: {},
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: latest ? "Always" : "IfNotPresent",
    ...container,
  };
  if (Array.isArray(container["ports"])) {
    out["ports"] = container["ports"].map((port) => (isObject(port) ? { protocol: "TCP", ...port } : port));
  }
  if (isObject(container["resources"])) out["resources"] = defaultResources(container["resources"]);
  if (Array.isArray(container["env"])) out["env"] = container["env"].map(defaultEnv);
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    if (isObject(container[probe])) out[probe] = defaultProbe(container[probe]);
  }
  return out;
}

function defaultResources(resources: JsonObject): JsonObject {
  const limits = objectAt(resources, "limits");
  if (Object.keys(limits).length === 0) return resources;
  return { ...resources, requests: { ...limits, ...objectAt(resources, "requests") } };
}

function defaultEnv(env: unknown): unknown {
  const field = objectAt(objectAt(env, "valueFrom"), "fieldRef");
  if (!isObject(env) || stringAt(field, "fieldPath") === "") return env;
  return { ...env, valueFrom: { ...objectAt(env, "valueFrom"), fieldRef: { apiVersion: "v1", ...field } } };
}

function defaultProbe(probe: JsonObject): JsonObject {
  const out: JsonObject = {
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
    ...probe,
  };
  if (isObject(probe["httpGet"])) out["httpGet"] = { path: "/", scheme: "HTTP", ...probe["httpGet"] };
  return out;
}

function defaultVolume(volume: unknown): unknown {
  if (!isObject(volume)) return volume;
  const out: JsonObject = { ...volume };
  for (const source of ["secret", "configMap", "downwardAPI", "projected"]) {
    if (isObject(volume[source])) out[source] = { defaultMode: 420, ...volume[source] };
  }
  const sources = Object.keys(volume).filter((key) => key !== "name");
  return sources.length === 0 ? { ...out, emptyDir: {} } : out;
}

const anyPolicy = ["Always", "OnFailure", "Never"];

/** The field errors of a pod spec at `field`; `claims` are volumes from the claim templates of a StatefulSet. */
export function validatePodSpec(
  spec: JsonObject,
  field: string,
  { policies = anyPolicy, claims = [] }: { policies?: string[]; claims?: string[] } = {},
): StatusCause[] {
  const causes: StatusCause[] = [];
  const containers = listAt(spec, "containers");
  if (containers.length === 0) causes.push(fieldError.required(`${field}.containers`));
  const volumes = new Set([...claims, ...listAt(spec, "volumes").map((volume) => stringAt(volume, "name"))]);
  const names = new Set<string>();
  for (const list of ["initContainers", "containers"]) {
    listAt(spec, list).forEach((container, index) => {
      const at = `${field}.${list}[${index}]`;
      const name = stringAt(container, "name");
      causes.push(...validateContainer(container, at, volumes));
      if (names.has(name)) causes.push(fieldError.duplicate(`${at}.name`, name));
      names.add(name);
    });
  }
  listAt(spec, "volumes").forEach((volume, index) => {
    const name = stringAt(volume, "name");
    if (name === "") causes.push(fieldError.required(`${field}.volumes[${index}].name`));
    else causes.push(...dns1123Label(name, `${field}.volumes[${index}].name`));
  });
  if (!policies.includes(stringAt(spec, "restartPolicy"))) {
    causes.push(fieldError.unsupported(`${field}.restartPolicy`, spec["restartPolicy"], policies));
  }
  return causes;
}

function validateContainer(container: unknown, at: string, volumes: Set<string>): StatusCause[] {
  const causes: StatusCause[] = [];
  const name = stringAt(container, "name");
  if (name === "") causes.push(fieldError.required(`${at}.name`));
  else causes.push(...dns1123Label(name, `${at}.name`));
  if (stringAt(container, "image").trim() === "") causes.push(fieldError.required(`${at}.image`));
  listAt(container, "ports").forEach((port, index) => {
    const number = isObject(port) ? port["containerPort"] : undefined;
    if (number === undefined) causes.push(fieldError.required(`${at}.ports[${index}].containerPort`));
    else if (typeof number === "number" && (number < 1 || number > 65535)) {
      causes.push(
        fieldError.invalid(
          `${at}.ports[${index}].containerPort`,
          number,
          "must be between 1 and 65535, inclusive",
        ),
      );
    }
  });
  listAt(container, "env").forEach((env, index) => {
    if (stringAt(env, "name") === "") causes.push(fieldError.required(`${at}.env[${index}].name`));
  });
  listAt(container, "volumeMounts").forEach((mount, index) => {
    const volume = stringAt(mount, "name");
    const path = `${at}.volumeMounts[${index}]`;
    if (!volumes.has(volume)) {
      causes.push({
        reason: "FieldValueNotFound",
        message: `Not found: ${JSON.stringify(volume)}`,
        field: `${path}.name`,
      });
    }
    if (stringAt(mount, "mountPath") === "") causes.push(fieldError.required(`${path}.mountPath`));
  });
  return causes;
}

// Mutable fields of a running pod: images, an earlier deadline, more tolerations, and the node once.
function changeable(spec: unknown): JsonObject {
  const out: JsonObject = { ...(isObject(spec) ? spec : {}) };
  for (const key of ["containers", "initContainers"]) {
    out[key] = listAt(spec, key).map((container) =>
      isObject(container) ? { ...container, image: "" } : container,
    );
  }
  for (const key of ["activeDeadlineSeconds", "tolerations", "schedulingGates"]) delete out[key];
  return out;
}

const frozenText =
  "pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds` or `spec.tolerations` (only additions to existing tolerations)";

function qosClass(spec: JsonObject): string {
  const containers = listAt(spec, "containers").map((container) => objectAt(container, "resources"));
  const limits = containers.map((resources) => objectAt(resources, "limits"));
  const requests = containers.map((resources) => objectAt(resources, "requests"));
  const none = [...limits, ...requests].every((amounts) => Object.keys(amounts).length === 0);
  if (none) return "BestEffort";
  const guaranteed = limits.every((limit, index) =>
    ["cpu", "memory"].every((key) => limit[key] !== undefined && limit[key] === requests[index]?.[key]),
  );
  return guaranteed ? "Guaranteed" : "Burstable";
}

const notReady = { operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 };

/** Pods: most of the spec is immutable. */
export const podStrategy: Strategy = {
  defaults: (pod) => {
    const spec: JsonObject = { enableServiceLinks: true, ...defaultPodSpec(objectAt(pod, "spec")) };
    return { ...pod, spec };
  },
  onCreate: (pod) => {
    const spec = objectAt(pod, "spec");
    const tolerations = listAt(spec, "tolerations");
    const added = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
      .filter((key) => !tolerations.some((toleration) => stringAt(toleration, "key") === key))
      .map((key) => ({ key, ...notReady }));
    const full = {
      ...spec,
      tolerations: [...tolerations, ...added],
      priority: 0,
      preemptionPolicy: "PreemptLowerPriority",
    };
    return { ...pod, spec: full, status: { phase: "Pending", qosClass: qosClass(spec) } };
  },
  validate: (pod) => validatePodSpec(objectAt(pod, "spec"), "spec"),
  validateUpdate: (next, previous) =>
    jsonEqual(changeable(next.spec), changeable(previous.spec))
      ? []
      : [fieldError.forbidden("spec", frozenText)],
};

/** The fields of a pod status that a deletion depends on. */
export function isPodOver(pod: KubeObject): boolean {
  const phase = stringAt(pod.status, "phase");
  return phase === "Succeeded" || phase === "Failed";
}
