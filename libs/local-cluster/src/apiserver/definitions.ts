import type { KubeObject } from "../cluster-api.ts";
import { cleanupFinalizer as cleanup } from "./kinds/custom-definition.ts";
import type { Registry, Target } from "./registry/registry.ts";
import type { Change } from "./store/stored.ts";

const definitionsKey = "apiextensions.k8s.io/customresourcedefinitions";

/** Keeps the served kinds in sync with the CRDs. */
type Definitions = { onGone(listener: (storageKey: string) => void): void; close(): void };

/**
 * Serves the kinds of the stored CRDs from now on. A CRD has a finalizer: when it is deleted, its objects are
 * deleted first.
 */
export function startDefinitions(registry: Registry): Definitions {
  const { store, types } = registry;
  const listeners: ((storageKey: string) => void)[] = [];
  const serve = (definition: KubeObject) => {
    types.define(definition);
    // The history of a kind starts with its definition.
    store.collection(storageKeyOf(definition));
  };
  for (const { object } of store.collection(definitionsKey).range({})) serve(object);

  const onDefinition = ({ type, current }: Change) => {
    const definition = current.object;
    if (type === "DELETED") {
      types.undefine(definition);
      for (const listener of listeners) listener(storageKeyOf(definition));
      store.drop(storageKeyOf(definition));
      return;
    }
    serve(definition);
    if (definition.metadata.deletionTimestamp) empty(registry, definition);
  };
  const stops = [
    store.subscribe(definitionsKey, onDefinition),
    store.subscribe(undefined, (change, resource) => {
      const owner = change.type === "DELETED" ? dyingDefinition(registry, resource) : undefined;
      if (owner) release(registry, owner);
    }),
  ];
  for (const { object } of [...store.collection(definitionsKey).range({})]) {
    if (object.metadata.deletionTimestamp) empty(registry, object);
  }
  return {
    onGone: (listener) => listeners.push(listener),
    close: () => {
      for (const stop of stops) stop();
    },
  };
}

function storageKeyOf({ spec }: KubeObject): string {
  const names = spec?.["names"] as { plural: string };
  return `${String(spec?.["group"])}/${names.plural}`;
}

function dyingDefinition(registry: Registry, resource: string): KubeObject | undefined {
  const [group, plural] = resource.split("/");
  const definition = registry.store.get(definitionsKey, `/${plural}.${group}`)?.object;
  return definition?.metadata.deletionTimestamp ? definition : undefined;
}

function empty(registry: Registry, definition: KubeObject): void {
  const type = registry.types.ofStorage(storageKeyOf(definition));
  if (!type) return;
  for (const { object } of [...registry.store.collection(type.storageKey).range({})]) {
    const target: Target = { type, name: object.metadata.name, namespace: object.metadata.namespace };
    if (!object.metadata.deletionTimestamp && registry.find(target)) registry.remove(target);
  }
  release(registry, definition);
}

function release(registry: Registry, definition: KubeObject): void {
  const type = registry.types.ofKind("apiextensions.k8s.io/v1", "CustomResourceDefinition");
  if (!type || registry.store.collection(storageKeyOf(definition)).size() > 0) return;
  const target: Target = { type, name: definition.metadata.name };
  const current = registry.find(target)?.object;
  if (!current?.metadata.finalizers?.includes(cleanup)) return;
  const finalizers = current.metadata.finalizers.filter((name) => name !== cleanup);
  registry.update(target, { ...current, metadata: { ...current.metadata, finalizers } });
}
