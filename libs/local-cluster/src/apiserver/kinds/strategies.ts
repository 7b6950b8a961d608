import { fieldError } from "../field-error.ts";
import { isObject, listAt, objectAt, stringAt } from "../json.ts";
import { bindingStrategy, roleStrategy } from "./access.ts";
import { configMapStrategy, secretStrategy } from "./config.ts";
import { definitionStrategy } from "./custom-definition.ts";
import { podStrategy } from "./pod.ts";
import { serviceStrategy } from "./service.ts";
import type { Strategy } from "./strategy.ts";
import { claimStrategy, storageClassStrategy, volumeStrategy } from "./volume.ts";
import { deploymentStrategy, jobStrategy, replicaSetStrategy, statefulSetStrategy } from "./workload.ts";

const namespaceStrategy: Strategy = {
  onCreate: (namespace) => ({
    ...namespace,
    metadata: {
      ...namespace.metadata,
      labels: { ...namespace.metadata.labels, "kubernetes.io/metadata.name": namespace.metadata.name },
    },
    spec: { finalizers: ["kubernetes"] },
    status: { phase: "Active" },
  }),
};

const networkPolicyStrategy: Strategy = {
  defaults: (policy) => {
    const spec = objectAt(policy, "spec");
    const types = listAt(spec, "egress").length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
    return { ...policy, spec: { podSelector: {}, ...spec, policyTypes: spec["policyTypes"] ?? types } };
  },
};

const leaseStrategy: Strategy = {
  validate: (lease) => {
    const duration = objectAt(lease, "spec")["leaseDurationSeconds"];
    if (typeof duration !== "number" || duration > 0) return [];
    return [fieldError.invalid("spec.leaseDurationSeconds", duration, "must be greater than 0")];
  },
};

const coreEventStrategy: Strategy = {
  validate: (event) => {
    const about = event["involvedObject"];
    const namespace = stringAt(about, "namespace") || "default";
    if (isObject(about) && namespace === event.metadata.namespace) return [];
    if (stringAt(about, "namespace") === "" && isObject(about)) {
      return [fieldError.invalid("involvedObject.namespace", "", "does not match event.namespace")];
    }
    return [
      fieldError.invalid(
        "involvedObject.namespace",
        stringAt(about, "namespace"),
        "does not match event.namespace",
      ),
    ];
  },
};

const nodeStrategy: Strategy = { defaults: (node) => ({ ...node, spec: objectAt(node, "spec") }) };

/** What each built-in kind adds to the common write path, by storage key. */
export const strategies: Record<string, Strategy> = {
  "/namespaces": namespaceStrategy,
  "/pods": podStrategy,
  "/services": serviceStrategy,
  "/secrets": secretStrategy,
  "/configmaps": configMapStrategy,
  "/persistentvolumeclaims": claimStrategy,
  "/persistentvolumes": volumeStrategy,
  "/nodes": nodeStrategy,
  "/events": coreEventStrategy,
  "apps/statefulsets": statefulSetStrategy,
  "apps/deployments": deploymentStrategy,
  "apps/replicasets": replicaSetStrategy,
  "batch/jobs": jobStrategy,
  "coordination.k8s.io/leases": leaseStrategy,
  "networking.k8s.io/networkpolicies": networkPolicyStrategy,
  "storage.k8s.io/storageclasses": storageClassStrategy,
  "rbac.authorization.k8s.io/roles": roleStrategy,
  "rbac.authorization.k8s.io/clusterroles": roleStrategy,
  "rbac.authorization.k8s.io/rolebindings": bindingStrategy,
  "rbac.authorization.k8s.io/clusterrolebindings": bindingStrategy,
  "apiextensions.k8s.io/customresourcedefinitions": definitionStrategy,
};
