import type { KubeObject } from "../../cluster-api.ts";
import type { StatusCause } from "../field-error.ts";

/** What a built-in kind adds to the common write path. All functions are pure; objects are never changed in place. */
export type Strategy = {
  /** Fills in defaults; runs on every write, before validation. */
  defaults?: (object: KubeObject, previous?: KubeObject) => KubeObject;
  /** What a new object starts with, its first status for example. */
  onCreate?: (object: KubeObject, context: CreateContext) => KubeObject;
  validate?: (object: KubeObject) => StatusCause[];
  validateUpdate?: (next: KubeObject, previous: KubeObject) => StatusCause[];
};

/** What a new object may need to know of the cluster. */
export type CreateContext = {
  uid: string;
  now: () => Date;
  /** Gives a free cluster address, or refuses the one asked for (undefined = any). */
  allotClusterIp: (wanted: string | undefined) => string;
  /** Name of the default StorageClass. */
  defaultStorageClass: () => string | undefined;
};
