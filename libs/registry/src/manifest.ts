// The documents of the OCI image format and those of Docker's format 2, which are the same but for their media types.

import { z } from "zod";
import { malformed } from "./error.ts";

export const mediaTypes = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar",
  layerGzip: "application/vnd.oci.image.layer.v1.tar+gzip",
  empty: "application/vnd.oci.empty.v1+json",
  dockerList: "application/vnd.docker.distribution.manifest.list.v2+json",
  dockerManifest: "application/vnd.docker.distribution.manifest.v2+json",
} as const;

const Digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);

export const Descriptor = z.object({
  mediaType: z.string().max(255),
  digest: Digest,
  size: z.int().min(0),
  /** In an index. */
  platform: z.object({ architecture: z.string(), os: z.string() }).optional(),
});
export type Descriptor = z.output<typeof Descriptor>;

export const ImageManifest = z.object({
  schemaVersion: z.literal(2),
  config: Descriptor,
  /** From the base up. */
  layers: z.array(Descriptor).max(1_000),
});
export type ImageManifest = z.output<typeof ImageManifest>;

const ImageIndex = z.object({
  schemaVersion: z.literal(2),
  manifests: z.array(Descriptor).max(1_000),
});
type ImageIndex = z.output<typeof ImageIndex>;

type ParsedManifest = ({ kind: "image" } & ImageManifest) | ({ kind: "index" } & ImageIndex);

/** Throws `RegistryError` for what is neither an image nor an index of images. */
export function parseManifest({ mediaType, bytes }: { mediaType: string; bytes: Buffer }): ParsedManifest {
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw malformed("the manifest is not JSON");
  }
  const isIndex = mediaType === mediaTypes.index || mediaType === mediaTypes.dockerList;
  if (!isIndex && mediaType !== mediaTypes.manifest && mediaType !== mediaTypes.dockerManifest)
    throw malformed(`the manifest has the unknown type ${mediaType}`);
  const own = (json as { mediaType?: unknown } | null)?.mediaType;
  if (own !== undefined && own !== mediaType)
    throw malformed(`the manifest of type ${mediaType} calls itself ${String(own)}`);
  const parsed = isIndex ? ImageIndex.safeParse(json) : ImageManifest.safeParse(json);
  if (!parsed.success) throw malformed(`the manifest is invalid: ${z.prettifyError(parsed.error)}`);
  return "layers" in parsed.data
    ? { kind: "image", ...parsed.data }
    : { kind: "index", ...(parsed.data as ImageIndex) };
}
