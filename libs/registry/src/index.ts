// Client of an OCI registry (docs/reference/registry.md).

export { digestOf } from "./blob.ts";
export { isRegistryError, RegistryError } from "./error.ts";
export { Descriptor, ImageManifest, mediaTypes, parseManifest } from "./manifest.ts";
export { parseReference, type Reference } from "./reference.ts";
export { listReferrers, putReferrer, referrersTag, subjectOfTag } from "./referrers.ts";
export { type Manifest, openRegistry, type Registry } from "./registry.ts";
export { retried } from "./retry.ts";
