import type { KubeObject } from "../cluster-api.ts";
import type { StructuralSchema } from "./schema/structural.ts";

/** Where the scale subresource of a kind finds its numbers; paths are lists of keys. */
export type ScalePaths = { replicas: string[]; statusReplicas: string[]; selector?: string[] };

/** One column that `kubectl get` shows, as a CRD names it. */
export type PrinterColumn = { name: string; type: string; jsonPath: string; priority?: number };

/** What a custom kind adds to a resource: its schema and columns come from the CRD. */
export type CustomKind = { crd: string; schema: StructuralSchema; columns: PrinterColumn[] };

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
  /** Two versions or groups of one kind share what is stored under this key. */
  storageKey: string;
  /** Translates between the stored shape and this version; absent when they are the same. */
  view?: { read: (stored: KubeObject) => KubeObject; write: (object: KubeObject) => KubeObject };
};

/** `v1` or `group/version`, as an object's apiVersion says it. */
export function apiVersionOf(type: { group: string; version: string }): string {
  return type.group ? `${type.group}/${type.version}` : type.version;
}
