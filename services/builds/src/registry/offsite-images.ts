// Bytes of the registry for off-site copies, and back (docs/reference/off-site.md#images).

import { Readable } from "node:stream";
import type { Handler, Mesh } from "@svc/mesh";
import { Fault, type offsiteBuilds } from "@svc/proto";
import { isRegistryError, type Registry } from "@svc/registry";
import { verified } from "@svc/service/verified";
import { findImages } from "./list-offsite-images.ts";
import type { Keepers } from "./plan.ts";

type ImageDeps = {
  byteTransfers: Mesh["byteTransfers"];
  /** With the right to write; undefined without a registry. */
  registry: Registry | undefined;
  readKeepers: () => Promise<Keepers>;
};

/** builds.offsite.read-images */
export const readImages =
  ({ registry, readKeepers, byteTransfers }: ImageDeps): Handler<typeof offsiteBuilds.readImages> =>
  async (context) => {
    const list: offsiteBuilds.OffsiteImages = { configured: registry !== undefined, images: [], wanted: [] };
    if (registry) {
      const { whitelist, server } = await readKeepers();
      list.wanted = [...whitelist, ...server];
      list.images = await asked(findImages({ registry, wanted: list.wanted, signal: context.signal }));
    }
    const bytes = Buffer.from(JSON.stringify(list));
    context.reply.byteTransfer = byteTransfers.download({
      headers: { "Content-Length": String(bytes.length) },
      source: async function* () {
        yield bytes;
      },
    });
    return null;
  };

/** builds.offsite.read-image-part */
export const readImagePart =
  ({ registry, byteTransfers }: ImageDeps): Handler<typeof offsiteBuilds.readImagePart> =>
  async (context, { repository, kind, digest, size_bytes: size }) => {
    if (!registry) throw noRegistry();
    if (!(await has(registry, { repository, kind, digest }, context.signal)))
      throw new Fault("not_found", { message: "The registry does not have it." });
    context.reply.byteTransfer = byteTransfers.download({
      headers: { "Content-Length": String(size) },
      source: (signal) =>
        kind === "blob"
          ? registry.getBlob(repository, { digest, size }, signal)
          : manifestBytes(registry, { repository, digest }, signal),
    });
    return null;
  };

type Place = { repository: string; digest: string };

async function has(
  registry: Registry,
  { repository, kind, digest }: Place & { kind: "manifest" | "blob" },
  signal: AbortSignal,
): Promise<boolean> {
  if (kind === "blob") return asked(registry.hasBlob(repository, digest, signal));
  return (await asked(registry.headManifest(repository, digest, signal))) !== undefined;
}

async function* manifestBytes(registry: Registry, { repository, digest }: Place, signal: AbortSignal) {
  const manifest = await registry.getManifest(repository, digest, signal);
  if (!manifest) throw new Error(`the registry has no ${digest} any more`);
  yield manifest.bytes;
}

/** builds.offsite.write-image-part: answers when the registry has it. */
export const writeImagePart =
  ({ registry, byteTransfers }: ImageDeps): Handler<typeof offsiteBuilds.writeImagePart> =>
  async (context, { repository, kind, digest, size_bytes, media_type = "" }) => {
    if (!registry) throw noRegistry();
    if (await has(registry, { repository, kind, digest }, context.signal)) return { in_place: true };
    context.reply.byteTransfer = byteTransfers.upload({
      receive: async (body, _head, signal) => {
        const expected = { size: size_bytes, sha256: digest.slice("sha256:".length) };
        const bytes = verified(body, expected, () => new Fault("digest_mismatch"));
        const place = { repository, digest };
        await (kind === "blob"
          ? putBlob(registry, { ...place, size_bytes }, { bytes, signal })
          : putManifest(registry, { ...place, media_type }, { bytes, signal }));
        return null;
      },
    });
    return null;
  };

type Incoming = { bytes: AsyncIterable<Uint8Array>; signal: AbortSignal };

async function putBlob(
  registry: Registry,
  { repository, digest, size_bytes: size }: Place & { size_bytes: number },
  { bytes, signal }: Incoming,
): Promise<void> {
  let wrong: unknown;
  const source = Readable.from(bytes).on("error", (error) => (wrong = error));
  await asked(registry.putBlob(repository, { digest, size, open: () => source }, signal)).catch((error) => {
    // The registry tells only that the bytes ended.
    throw wrong instanceof Fault ? wrong : error;
  });
}

async function putManifest(
  registry: Registry,
  { repository, digest, media_type: mediaType }: Place & { media_type: string },
  { bytes, signal }: Incoming,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of bytes) chunks.push(Buffer.from(chunk));
  const manifest = { mediaType, bytes: Buffer.concat(chunks), signal };
  await asked(registry.putManifest(repository, digest, manifest));
}

/** builds.offsite.tag-image */
export const tagImage =
  ({ registry }: ImageDeps): Handler<typeof offsiteBuilds.tagImage> =>
  async ({ signal }, { repository, digest, tags }) => {
    if (!registry) throw noRegistry();
    const manifest = await asked(registry.getManifest(repository, digest, signal));
    if (!manifest) throw new Fault("not_found", { message: "The registry does not have it." });
    const done: { tagged: string[]; kept: string[] } = { tagged: [], kept: [] };
    for (const tag of tags) {
      const named = await asked(registry.headManifest(repository, tag, signal));
      if (named && named.digest !== digest) {
        done.kept.push(tag);
        continue;
      }
      const { mediaType, bytes } = manifest;
      if (!named) await asked(registry.putManifest(repository, tag, { mediaType, bytes, signal }));
      done.tagged.push(tag);
    }
    return done;
  };

async function asked<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    if (!isRegistryError(cause)) throw cause;
    throw new Fault("registry_unavailable", { message: cause.message, cause });
  }
}

const noRegistry = () =>
  new Fault("registry_unavailable", { message: "This installation has no registry: registry.url is empty." });
