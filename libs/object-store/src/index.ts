// Client of an S3 object store (docs/reference/off-site.md#store).

export { bytesBody } from "./body.ts";
export { isObjectStoreError, ObjectStoreError, type ObjectStoreProblem } from "./error.ts";
export { openObjectStore } from "./store.ts";
export type {
  Body,
  Capabilities,
  ConditionalPut,
  FoundObject,
  GetOptions,
  ListedObject,
  ListedVersion,
  ObjectHead,
  ObjectStore,
  ObjectStoreOptions,
  PutRequest,
  RequestEvent,
  StoredObject,
} from "./types.ts";
