import type { KubeObject } from "../../cluster-api.ts";
import type { StatusCause } from "../field-error.ts";

/** What a built-in kind adds to the common write path. All functions are pure; objects are never changed in place. */
export type Strategy = {
  /** Fills in defaults; runs on every write, before validation. */
  defaults?: (object: KubeObject, previous?: KubeObject) => KubeObject;
  /** Initial fields of a new object, for example its status. */
  onCreate?: (object: KubeObject, context: CreateContext) => KubeObject;
  validate?: (object: KubeObject) => StatusCause[];
  validateUpdate?: (next: KubeObject, previous: KubeObject) => StatusCause[];
};

/** Facts about the cluster that a new object may need. */
export type CreateContext = {
  uid: string;
  now: () => Date;
  /** Allocates a free cluster address, or rejects the requested one (undefined = any). */
  allotClusterIp: (wanted: string | undefined) => string;
  /** Name of the default StorageClass. */
  defaultStorageClass: () => string | undefined;
};
