// What a cached layer is in the registry: a manifest of that one blob, whose tag is the digest of the layer's plain tar
// (docs/reference/builds.md#cache). Pure.

import { type Descriptor, digestOf, type Manifest, mediaTypes, parseManifest } from "@svc/registry";

export const emptyConfig = Buffer.from("{}");
const artifactType = "application/vnd.svc.build-layer.v1";
/** Smaller ones are made and sent faster than they are looked up. */
export const smallestCached = 1 << 20;
/** Of one image; the largest come first. */
const mostKept = 64;

/** Undefined for what is no digest of a plain tar. */
export function tagOf(diffId: string): string | undefined {
  return /^sha256:[0-9a-f]{64}$/.test(diffId) ? diffId.slice("sha256:".length) : undefined;
}

/** The same layer gives the same bytes. */
export function entryOf(layer: Descriptor): Buffer {
  const { mediaType, digest, size } = layer;
  const config = { mediaType: mediaTypes.empty, digest: digestOf(emptyConfig), size: emptyConfig.length };
  const layers = [{ mediaType, digest, size }];
  return Buffer.from(
    JSON.stringify({ schemaVersion: 2, mediaType: mediaTypes.manifest, artifactType, config, layers }),
  );
}

/** Undefined for what is not the entry of a gzip layer of at most `most` bytes. */
export function layerOf(manifest: Manifest, most: number): Descriptor | undefined {
  const parsed = parseManifest(manifest);
  if (parsed.kind !== "image" || parsed.layers.length !== 1) return undefined;
  const [layer] = parsed.layers;
  return layer?.mediaType === mediaTypes.layerGzip && layer.size <= most ? layer : undefined;
}

/** Which layers of an image are worth keeping; `diffIds` are those of its configuration. */
export function layersToKeep(
  layers: readonly Descriptor[],
  diffIds: readonly string[],
): { layer: Descriptor; tag: string }[] {
  const found = layers.flatMap((layer, at) => {
    const tag = tagOf(diffIds[at] ?? "");
    return tag === undefined || layer.size < smallestCached ? [] : [{ layer, tag }];
  });
  const once = new Map(found.map((one) => [one.tag, one]));
  return [...once.values()].toSorted((a, b) => b.layer.size - a.layer.size).slice(0, mostKept);
}

/** The `diff_ids` of an image's configuration; none when it has no such list. */
export function diffIdsIn(config: Buffer): string[] {
  try {
    const { rootfs } = JSON.parse(config.toString("utf8")) as { rootfs?: { diff_ids?: unknown } };
    const ids = rootfs?.diff_ids;
    return Array.isArray(ids) ? ids.map((id) => (typeof id === "string" ? id : "")) : [];
  } catch {
    return [];
  }
}
