import type { ClusterApi, KubeObject, ListOptions, ResourceRef, WatchEvent } from "../cluster-api.ts";
import { noSuchPath } from "./api-status.ts";
import { mergePatch } from "./patch/merge-patch.ts";
import { predicateOf, type Selection } from "./registry/listing.ts";
import type { Registry, Target } from "./registry/registry.ts";
import type { ResourceType } from "./resource-type.ts";
import { readScale, writeScale } from "./scale.ts";
import type { Predicate } from "./selector.ts";
import type { Change } from "./store/stored.ts";

/** The API for the controllers of this process. */
export function createClusterApi(registry: Registry): ClusterApi {
  const typeOf = ({ group, version, resource }: ResourceRef): ResourceType => {
    const type = registry.types.find(group, version, resource);
    if (!type) throw noSuchPath();
    return type;
  };
  const targetOf = (ref: ResourceRef, name: string, namespace?: string): Target => ({
    type: typeOf(ref),
    name,
    namespace,
  });
  const ofObject = (ref: ResourceRef, { metadata }: KubeObject) =>
    targetOf(ref, metadata.name, metadata.namespace);
  return {
    list: (ref, options = {}) => list(registry, typeOf(ref), options),
    get: (ref, name, namespace) => registry.get(targetOf(ref, name, namespace)).object,
    find: (ref, name, namespace) => registry.find(targetOf(ref, name, namespace))?.object,
    create: (ref, object) => registry.create(typeOf(ref), object, { namespace: object.metadata.namespace }),
    update: (ref, object) => registry.update(ofObject(ref, object), object),
    updateStatus: (ref, object) => registry.update(ofObject(ref, object), object, { subresource: "status" }),
    mergePatch: (ref, { name, namespace, subresource }, patch) => {
      const target = targetOf(ref, name, namespace);
      const current = registry.get(target).object;
      if (subresource === "scale") {
        const scaled = writeScale(target.type, current, mergePatch(readScale(target.type, current), patch));
        return registry.update(target, scaled);
      }
      return registry.update(target, mergePatch(current, patch), {
        ...(subresource ? { subresource } : {}),
      });
    },
    delete: (ref, { name, namespace }, options = {}) => {
      registry.remove(targetOf(ref, name, namespace), options);
    },
    bindPod: ({ name, namespace }, nodeName) => {
      registry.bind(targetOf({ group: "", version: "v1", resource: "pods" }, name, namespace), nodeName);
    },
    namespacedResources: () =>
      registry.types
        .all()
        .filter((type) => type.namespaced)
        .map(({ group, version, plural }) => ({ group, version, resource: plural })),
    finalizeNamespace: (name) => {
      registry.finalize(targetOf({ group: "", version: "v1", resource: "namespaces" }, name), []);
    },
    watch: (ref, options, onEvent) => watch(registry, typeOf(ref), { options, onEvent }),
  };
}

function selection({ namespace, labelSelector, fieldSelector }: ListOptions): Selection {
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector ? { labelSelector } : {}),
    ...(fieldSelector ? { fieldSelector } : {}),
  };
}

function list(registry: Registry, type: ResourceType, options: ListOptions) {
  const accepts = predicateOf(type, selection(options));
  const scope = options.namespace === undefined ? {} : { namespace: options.namespace };
  const items: KubeObject[] = [];
  for (const { object } of registry.store.collection(type.storageKey).range(scope)) {
    if (!accepts || accepts(object)) items.push(object);
  }
  return { items, resourceVersion: String(registry.store.version()) };
}

type Watcher = { options: ListOptions; onEvent: (event: WatchEvent) => void };

function watch(registry: Registry, type: ResourceType, { options, onEvent }: Watcher): () => void {
  const accepts = predicateOf(type, selection(options));
  let ended = false;
  const initial = list(registry, type, options).items;
  const unsubscribe = registry.store.subscribe(type.storageKey, (change) => {
    const inside = options.namespace === undefined || change.key.startsWith(`${options.namespace}/`);
    const event = inside && !ended ? eventOf(change, accepts) : undefined;
    if (event) onEvent(event);
  });
  for (const object of initial) if (!ended) onEvent({ type: "ADDED", object });
  return () => {
    ended = true;
    unsubscribe();
  };
}

function eventOf(change: Change, accepts: Predicate | undefined): WatchEvent | undefined {
  const { object } = change.current;
  if (!accepts) return { type: change.type, object };
  const matches = change.type !== "DELETED" && accepts(object);
  const matched = change.previous ? accepts(change.previous.object) : change.type !== "ADDED";
  if (matches) return { type: matched ? "MODIFIED" : "ADDED", object };
  return matched ? { type: "DELETED", object } : undefined;
}
