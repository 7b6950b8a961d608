import type { KubeObject } from "../../cluster-api.ts";
import { typesOfDefinition } from "../kinds/custom-definition.ts";
import type { ResourceType } from "../resource-type.ts";

/** All resources that are served, built-in and custom. */
export type TypeTable = {
  find(group: string, version: string, plural: string): ResourceType | undefined;
  /** The type in which a stored object is kept. */
  ofStorage(storageKey: string): ResourceType | undefined;
  ofKind(apiVersion: string, kind: string): ResourceType | undefined;
  all(): ResourceType[];
  define(definition: KubeObject): void;
  undefine(definition: KubeObject): void;
};

/** A table of the built-in types. */
export function createTypeTable(builtin: readonly ResourceType[]): TypeTable {
  const custom = new Map<string, ResourceType[]>();
  const byPath = new Map<string, ResourceType>();
  const byStorage = new Map<string, ResourceType>();
  const path = (type: ResourceType) => `${type.group}/${type.version}/${type.plural}`;
  const add = (types: readonly ResourceType[]) => {
    for (const type of types) {
      byPath.set(path(type), type);
      byStorage.set(type.storageKey, type);
    }
  };
  const remove = (definition: KubeObject) => {
    for (const type of custom.get(definition.metadata.name) ?? []) {
      byPath.delete(path(type));
      byStorage.delete(type.storageKey);
    }
    custom.delete(definition.metadata.name);
  };
  const all = () => [...byPath.values()];
  add(builtin);
  return {
    find: (group, version, plural) => byPath.get(`${group}/${version}/${plural}`),
    ofStorage: (storageKey) => byStorage.get(storageKey),
    ofKind: (apiVersion, kind) =>
      all().find(
        (type) =>
          type.kind === kind && (type.group ? `${type.group}/${type.version}` : type.version) === apiVersion,
      ),
    all,
    define: (definition) => {
      remove(definition);
      const types = typesOfDefinition(definition);
      custom.set(definition.metadata.name, types);
      add(types);
    },
    undefine: remove,
  };
}
