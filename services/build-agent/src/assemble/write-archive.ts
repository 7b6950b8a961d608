// Writes an image as an OCI archive: an image layout as a tar without times.

import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { type Descriptor, digestOf, mediaTypes } from "@svc/registry";
import { tarEnd, tarHeader, tarPadding } from "./tar.ts";

/** A blob in memory, in a file, or yet to be read. */
type Blob = {
  descriptor: Descriptor;
  bytes?: Buffer;
  file?: string;
  open?: () => AsyncIterable<Buffer>;
};

type BuiltImage = { config: object; layers: { descriptor: Descriptor; file: string }[] };

/** Returns the digest of the manifest. */
export async function writeImageArchive(
  image: BuiltImage,
  path: string,
  signal: AbortSignal,
): Promise<string> {
  const config = blobOf(image.config, mediaTypes.config);
  const manifest = blobOf(
    {
      schemaVersion: 2,
      mediaType: mediaTypes.manifest,
      config: config.descriptor,
      layers: image.layers.map(({ descriptor }) => descriptor),
    },
    mediaTypes.manifest,
  );
  await writeArchive(path, { manifest, others: [...image.layers, config] }, signal);
  return manifest.descriptor.digest;
}

/** An archive of one manifest and what it names. */
export async function writeArchive(
  path: string,
  { manifest, others }: { manifest: Blob; others: readonly Blob[] },
  signal: AbortSignal,
): Promise<void> {
  const index = blobOf({ schemaVersion: 2, manifests: [manifest.descriptor] }, mediaTypes.index);
  // The same layer may be there twice.
  const blobs = new Map<string, Blob>();
  for (const blob of [...others, manifest]) blobs.set(blob.descriptor.digest, blob);
  const tar = async function* (): AsyncGenerator<Buffer> {
    yield* member("oci-layout", { bytes: Buffer.from('{"imageLayoutVersion":"1.0.0"}') });
    yield* member("index.json", index);
    for (const blob of blobs.values())
      yield* member(`blobs/${blob.descriptor.digest.replace(":", "/")}`, blob);
    yield tarEnd;
  };
  await pipeline(tar(), createWriteStream(path), { signal });
}

function blobOf(json: object, mediaType: string): Blob & { bytes: Buffer } {
  const bytes = Buffer.from(JSON.stringify(json));
  return { descriptor: { mediaType, digest: digestOf(bytes), size: bytes.length }, bytes };
}

async function* member(path: string, blob: Partial<Blob>): AsyncGenerator<Buffer> {
  const { bytes, file, open, descriptor } = blob;
  const size = bytes?.length ?? descriptor?.size ?? 0;
  yield tarHeader({ path, kind: "file", mode: 0o644, uid: 0, gid: 0, size });
  if (bytes) yield bytes;
  else if (file !== undefined)
    yield* createReadStream(file, { highWaterMark: 256 << 10 }) as AsyncIterable<Buffer>;
  else if (open) yield* open();
  yield tarPadding(size);
}
