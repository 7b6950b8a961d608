// What the registry has that an off-site copy is kept of: everything but layers for later builds and the platform's own images,
// and of those what the whitelist or a server names by its digest (docs/reference/off-site.md#images).

import type { offsiteBuilds } from "@svc/proto";
import { parseManifest, type Registry } from "@svc/registry";
import { isCache, isReserved, type Named } from "./plan.ts";

type Image = offsiteBuilds.OffsiteImage;
type Options = { registry: Registry; wanted: readonly Named[]; signal: AbortSignal };

/** Throws `RegistryError` when anything can't be read: a part of the list must not pass for all of it. */
export async function findImages({ registry, wanted, signal }: Options): Promise<Image[]> {
  const found = new Map<string, Image>();
  const add = async (repository: string, reference: string, tag?: string): Promise<void> => {
    const manifest = await registry.getManifest(repository, reference, signal);
    // Deleted since it was listed.
    if (!manifest) return;
    const { digest, mediaType: media_type, bytes } = manifest;
    const key = `${repository}@${digest}`;
    const known = found.get(key);
    if (known) {
      if (tag !== undefined) known.tags.push(tag);
      return;
    }
    const parsed = parseManifest(manifest);
    const blobs = parsed.kind === "image" ? [parsed.config, ...parsed.layers] : [];
    const parts = parsed.kind === "index" ? parsed.manifests.map((part) => part.digest) : [];
    found.set(key, {
      ...{ repository, digest, media_type, parts },
      size_bytes: bytes.length,
      tags: tag === undefined ? [] : [tag],
      blobs: blobs.map((blob) => ({ digest: blob.digest, size_bytes: blob.size })),
    });
    for (const part of parts) await add(repository, part);
  };
  for (const repository of await registry.listRepositories(signal)) {
    if (isReserved(repository) || isCache(repository)) continue;
    for (const tag of await registry.listTags(repository, signal)) await add(repository, tag, tag);
  }
  for (const { repository, digest } of wanted)
    if (digest !== undefined && !found.has(`${repository}@${digest}`)) await add(repository, digest);
  return [...found.values()];
}
