// Fetches one image of the registry and unpacks what it has for the data folder of its base. Nothing of an image is parsed
// before its bytes were found to be those of their digest.

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip, createZstdDecompress } from "node:zlib";
import type { Descriptor, ImageManifest, Registry } from "@svc/registry";
import type { UnpackLimits } from "@svc/world";
import { ImageError } from "./image-error.ts";
import { ImageConfig } from "./pulled.ts";

export type ImageLimits = UnpackLimits & {
  /** Layers as the registry stores them, together. */
  packedBytes: number;
  layers: number;
};

export type Source = { registry: Registry; path: string; limits: ImageLimits; signal: AbortSignal };
export type FoundManifest = { digest: string; manifest: ImageManifest };

const configBytes = 4 << 20;
const architectures: Record<string, string> = { x64: "amd64", arm64: "arm64" };

/** The manifest of a tag or digest; of an index, the one for this machine. */
export async function findManifest(
  { registry, path, signal }: Source,
  wanted: string,
): Promise<FoundManifest> {
  const { parseManifest } = await import("@svc/registry");
  const read = async (reference: string) => {
    const found = await registry.getManifest(path, reference, signal);
    if (found === undefined)
      throw new ImageError(
        `the registry has no image "${registry.host}/${path}" with ${reference}; it may have been deleted`,
      );
    return { digest: found.digest, parsed: parseManifest(found) };
  };
  const outer = await read(wanted);
  if (outer.parsed.kind === "image") return { digest: outer.digest, manifest: outer.parsed };
  const architecture = architectures[process.arch] ?? process.arch;
  const own = outer.parsed.manifests.find(
    ({ platform }) => platform?.os === "linux" && platform.architecture === architecture,
  );
  if (own === undefined)
    throw new ImageError(`"${registry.host}/${path}" has no image for linux/${architecture}`);
  const inner = await read(own.digest);
  if (inner.parsed.kind !== "image")
    throw new ImageError(`"${registry.host}/${path}" is an index of indexes`);
  return { digest: inner.digest, manifest: inner.parsed };
}

export async function fetchConfig(source: Source, { manifest }: FoundManifest): Promise<ImageConfig> {
  const { registry, path, signal, limits } = source;
  const { config, layers } = manifest;
  if (config.size > configBytes) throw new ImageError(`the configuration of "${path}" is larger than 4 MiB`);
  const packed = layers.reduce((sum, { size }) => sum + size, 0);
  if (layers.length > limits.layers || packed > limits.packedBytes)
    throw new ImageError(
      `"${path}" has ${layers.length} layers of ${packed} bytes; this cluster takes ${limits.layers} of ${limits.packedBytes}`,
    );
  const parts: Buffer[] = [];
  for await (const chunk of registry.getBlob(path, config, signal)) parts.push(chunk);
  let json: unknown;
  try {
    json = JSON.parse(Buffer.concat(parts).toString("utf8"));
  } catch (cause) {
    throw new ImageError(`the configuration of "${path}" is not JSON`, { cause });
  }
  const parsed = ImageConfig.safeParse(json);
  if (!parsed.success || parsed.data.rootfs.diff_ids.length !== layers.length)
    throw new ImageError(`the configuration of "${path}" does not fit its manifest`);
  return parsed.data;
}

type Unpacking = { found: FoundManifest; config: ImageConfig; below: string; staging: string };

/** Unpacks what the image has below a folder into `<staging>/files`; returns the bytes of it. */
export async function fetchFiles(
  source: Source,
  { found, config, below, staging }: Unpacking,
): Promise<number> {
  const { unpackLayers } = await import("@svc/world");
  const { layers } = found.manifest;
  const target = join(staging, "files");
  await mkdir(target);
  const topDown = async function* () {
    for (let at = layers.length - 1; at >= 0; at -= 1) {
      const layer = layers[at] as Descriptor;
      const file = join(staging, "layer");
      await download(source, layer, file);
      yield unpacked(file, layer, config.rootfs.diff_ids[at] as string);
      await rm(file);
    }
  };
  const { bytes } = await unpackLayers({ target, below: below.slice(1), limits: source.limits }, topDown());
  return bytes;
}

async function download({ registry, path, signal }: Source, blob: Descriptor, file: string): Promise<void> {
  const handle = await open(file, "wx", 0o600);
  try {
    for await (const chunk of registry.getBlob(path, blob, signal)) await handle.writeFile(chunk);
  } finally {
    await handle.close();
  }
}

/** The tar of a layer; throws at its end when it is not the one that the configuration names. */
async function* unpacked(
  file: string,
  { mediaType, digest }: Descriptor,
  diffId: string,
): AsyncGenerator<Buffer> {
  const hash = createHash("sha256");
  for await (const chunk of decoded(file, mediaType)) {
    hash.update(chunk);
    yield chunk;
  }
  if (`sha256:${hash.digest("hex")}` !== diffId)
    throw new ImageError(`the layer ${digest} does not unpack to ${diffId}`);
}

async function* decoded(file: string, mediaType: string): AsyncGenerator<Buffer> {
  const packed = createReadStream(file, { highWaterMark: 1 << 20 });
  if (/\.tar$/.test(mediaType)) return yield* packed as AsyncIterable<Buffer>;
  const decoder = decoderOf(mediaType);
  const reading = pipeline(packed, decoder);
  reading.catch(() => undefined);
  try {
    yield* decoder as AsyncIterable<Buffer>;
    await reading;
  } finally {
    decoder.destroy();
    packed.destroy();
  }
}

function decoderOf(mediaType: string) {
  if (/[.+]gzip$/.test(mediaType)) return createGunzip({ chunkSize: 1 << 18 });
  if (/\+zstd$/.test(mediaType)) return createZstdDecompress({ chunkSize: 1 << 18 });
  throw new ImageError(`layers of type ${mediaType} are not supported`);
}
