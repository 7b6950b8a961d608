// Client of an S3 object store (docs/reference/off-site.md#store).

export { bytesBody } from "./body.ts";
export { isObjectStoreError } from "./error.ts";
export { openObjectStore } from "./store.ts";
export type { ListedObject, ObjectStore, ObjectStoreOptions } from "./types.ts";
