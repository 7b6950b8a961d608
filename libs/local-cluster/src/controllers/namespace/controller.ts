import type { ResourceRef } from "../../cluster-api.ts";
import type { Controller, ControllerDeps } from "../context.ts";
import { controllerQueue, tolerate } from "../context.ts";
import { createInformer } from "../informer.ts";
import { isTerminating, keyOf } from "../objects.ts";
import { NAMESPACES } from "../refs.ts";

const RECHECK_MS = 200;
// Owners before their dependents, or their controllers would create these again while the namespace empties.
const FIRST = ["deployments", "statefulsets", "replicasets", "jobs", "pods"];

function byOwnership(refs: ResourceRef[]): ResourceRef[] {
  const rank = ({ resource }: ResourceRef) =>
    FIRST.includes(resource) ? FIRST.indexOf(resource) : FIRST.length;
  return [...refs].sort((a, b) => rank(a) - rank(b));
}

/** Empties a deleted Namespace, then removes it. */
export function startNamespaces(deps: ControllerDeps): Controller {
  const { api } = deps;
  const namespaces = createInformer(api, NAMESPACES);
  const queue = controllerQueue("Namespace", deps, (name) => {
    const found = namespaces.get(name);
    if (found === undefined || !isTerminating(found)) return undefined;
    let left = 0;
    for (const ref of byOwnership(api.namespacedResources())) {
      for (const object of api.list(ref, { namespace: name }).items) {
        left += 1;
        if (isTerminating(object)) continue;
        tolerate([404, 409], () => api.delete(ref, { name: object.metadata.name, namespace: name }));
      }
    }
    if (left > 0) return RECHECK_MS;
    tolerate([404], () => api.finalizeNamespace(name));
    return undefined;
  });
  namespaces.onChange((namespace) => {
    if (isTerminating(namespace)) queue.add(keyOf(namespace));
  });
  return {
    close: async () => {
      namespaces.close();
      await queue.close();
    },
  };
}
