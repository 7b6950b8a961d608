import type { StructuralSchema } from "./schema/structural.ts";

/** Where the scale subresource of a kind finds its numbers; paths are lists of keys. */
export type ScalePaths = { replicas: string[]; statusReplicas: string[]; selector?: string[] };

/** What a CRD adds to a resource. */
type CustomKind = { crd: string; schema: StructuralSchema };

/** A served resource of one version: how it is named, what it can do, where it is stored. */
export type ResourceType = {
  group: string;
  version: string;
  kind: string;
  listKind: string;
  plural: string;
  singular: string;
  shortNames: string[];
  categories: string[];
  namespaced: boolean;
  /** The status subresource exists, and spec writes leave status alone. */
  status: boolean;
  scale?: ScalePaths;
  /** `metadata.generation` counts spec changes. */
  generation: boolean;
  /** The built-in model (builtin-types.json) that prunes and checks the fields. */
  model?: string;
  custom?: CustomKind;
  /** `group/plural`: where its objects are stored. */
  storageKey: string;
};

/** `v1` or `group/version`, as an object's apiVersion says it. */
export function apiVersionOf(type: { group: string; version: string }): string {
  return type.group ? `${type.group}/${type.version}` : type.version;
}
