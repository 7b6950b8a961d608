// Client of an OCI registry (docs/reference/registry.md).

export { type BlobSource, digestOf } from "./blob.ts";
export { isRegistryError, RegistryError } from "./error.ts";
export {
  Descriptor,
  ImageIndex,
  ImageManifest,
  mediaTypes,
  type ParsedManifest,
  parseManifest,
} from "./manifest.ts";
export { parseReference, type Reference } from "./reference.ts";
export {
  listReferrers,
  type NewReferrer,
  putReferrer,
  type Referrer,
  referrersTag,
  subjectOfTag,
} from "./referrers.ts";
export { type Manifest, openRegistry, type Registry, type RegistryOptions } from "./registry.ts";
export { retried } from "./retry.ts";
