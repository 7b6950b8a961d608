// Manifests that refer to another as their subject, such as provenance (OCI distribution 1.1). A registry without the
// referrers API gets the list as an index under a tag made of the subject's digest, as the specification has it.

import { Readable } from "node:stream";
import { z } from "zod";
import { digestOf } from "./blob.ts";
import { isRegistryError, malformed, RegistryError } from "./error.ts";
import { Descriptor, mediaTypes } from "./manifest.ts";
import type { Registry } from "./registry.ts";

const Referrer = z.looseObject({
  mediaType: z.string().max(255),
  digest: Descriptor.shape.digest,
  size: z.int().min(0),
  artifactType: z.string().max(255).optional(),
});
type Referrer = z.output<typeof Referrer>;

/** Members that other tools wrote are kept. */
const ReferrersIndex = z.looseObject({ schemaVersion: z.literal(2), manifests: z.array(Referrer) });

type NewReferrer = {
  path: string;
  /** The manifest that it belongs to. */
  subject: { mediaType: string; digest: string; size: number };
  /** What it is. */
  artifactType: string;
  content: Buffer;
  signal?: AbortSignal | undefined;
};

const emptyConfig = Buffer.from("{}");
/** Others may change the list between reading and writing it, or collect what it will name. */
const attempts = 5;

/** Tag of the list of a manifest's referrers in a registry without the API. */
export function referrersTag(digest: string): string {
  return digest.replace(":", "-");
}

/** The manifest whose referrers a tag lists; undefined for every other tag. */
export function subjectOfTag(tag: string): string | undefined {
  return /^sha256-[0-9a-f]{64}$/.test(tag) ? tag.replace("-", ":") : undefined;
}

/**
 * Returns the digest of the referring manifest; the same content gives the same one. Throws `RegistryError`.
 * What nothing refers to yet may be collected before its manifest comes; then all of it is sent again.
 */
export async function putReferrer(registry: Registry, referrer: NewReferrer): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await putOnce(registry, referrer);
    } catch (error) {
      const isCollected = isRegistryError(error) && error.code === "MANIFEST_BLOB_UNKNOWN";
      if (!isCollected || attempt === attempts) throw error;
    }
  }
}

async function putOnce(registry: Registry, referrer: NewReferrer): Promise<string> {
  const { path, subject, artifactType, content, signal } = referrer;
  const put = async (mediaType: string, bytes: Buffer) => {
    const blob = { digest: digestOf(bytes), size: bytes.length };
    await registry.putBlob(path, { ...blob, open: () => Readable.from([bytes]) }, signal);
    return { mediaType, ...blob };
  };
  const config = await put(mediaTypes.empty, emptyConfig);
  const layer = await put(artifactType, content);
  const mediaType = mediaTypes.manifest;
  const manifest = { schemaVersion: 2, mediaType, artifactType, config, layers: [layer], subject };
  const bytes = Buffer.from(JSON.stringify(manifest));
  const digest = await registry.putManifest(path, digestOf(bytes), { mediaType, bytes, signal });
  if ((await registry.readReferrers(path, subject.digest, signal)) === undefined)
    await addToTag(registry, referrer, { mediaType, digest, size: bytes.length, artifactType });
  return digest;
}

/** What refers to a manifest. Throws `RegistryError`. */
export async function listReferrers(
  registry: Registry,
  { path, digest, signal }: { path: string; digest: string; signal?: AbortSignal | undefined },
): Promise<Referrer[]> {
  const listed = await registry.readReferrers(path, digest, signal);
  if (listed !== undefined) {
    const parsed = parseIndex(listed);
    if (!parsed) throw malformed(`the registry sent an invalid list of what refers to ${digest}`);
    return parsed.manifests;
  }
  const found = await registry.getManifest(path, referrersTag(digest), signal);
  return (found && parseIndex(found.bytes)?.manifests) ?? [];
}

async function addToTag(
  registry: Registry,
  { path, subject, signal }: NewReferrer,
  own: Referrer,
): Promise<void> {
  const tag = referrersTag(subject.digest);
  const mediaType = mediaTypes.index;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const found = await registry.getManifest(path, tag, signal);
    // What is not a list under this tag is nobody's: the specification gives the tag to lists.
    const index = (found && parseIndex(found.bytes)) ?? {
      schemaVersion: 2 as const,
      mediaType,
      manifests: [],
    };
    if (index.manifests.some(({ digest }) => digest === own.digest)) return;
    const bytes = Buffer.from(JSON.stringify({ ...index, manifests: [...index.manifests, own] }));
    // Read again with the next attempt: another writer's list may have taken its place.
    await registry.putManifest(path, tag, { mediaType, bytes, signal });
  }
  throw new RegistryError("unavailable", `the list ${path}:${tag} is changed by others again and again`);
}

function parseIndex(bytes: Buffer): z.output<typeof ReferrersIndex> | undefined {
  try {
    return ReferrersIndex.parse(JSON.parse(bytes.toString("utf8")));
  } catch {
    return undefined;
  }
}
