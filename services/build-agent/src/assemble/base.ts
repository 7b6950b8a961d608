// The base of an image: pulled from the platform's registry, each blob checked against its digest.

import { createReadStream, createWriteStream } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createZstdDecompress } from "node:zlib";
import {
  type Descriptor,
  type ImageManifest,
  type Manifest,
  mediaTypes,
  parseManifest,
  parseReference,
  type Registry,
  retried,
} from "@svc/registry";
import { readTarAs } from "@svc/world";
import { z } from "zod";
import type { FileTree } from "./file-tree.ts";
import type { RunConfig } from "./recipe.ts";

const strings = z.array(z.string()).nullish();
const flags = z.record(z.string(), z.object({})).nullish();

const Config = z.object({
  User: z.string().nullish(),
  ExposedPorts: flags,
  Env: strings,
  Entrypoint: strings,
  Cmd: strings,
  Volumes: flags,
  WorkingDir: z.string().nullish(),
  Labels: z.record(z.string(), z.string()).nullish(),
  StopSignal: z.string().nullish(),
});

const ImageConfig = z.object({
  architecture: z.string(),
  os: z.string(),
  variant: z.string().optional(),
  config: Config.nullish(),
  rootfs: z.object({ diff_ids: z.array(z.string()) }),
  history: z.array(z.record(z.string(), z.unknown())).optional(),
});

export type Base = {
  platform: { architecture: string; os: string; variant?: string | undefined };
  config: RunConfig;
  history: Record<string, unknown>[];
  layers: { descriptor: Descriptor; diffId: string }[];
  path: string;
};

const architecture = { x64: "amd64", arm64: "arm64" }[process.arch as string] ?? process.arch;

export const scratch: Base = {
  platform: { architecture, os: "linux" },
  config: {},
  history: [],
  layers: [],
  path: "",
};

type Reading = {
  signal: AbortSignal;
  /** For how long a blob is fetched again while the registry is unavailable. */
  retryMs: number;
};

/** Manifest and configuration; layers are fetched by `fetchLayer`. Throws one sentence. */
export async function openBase(text: string, registry: Registry, reading: Reading): Promise<Base> {
  const { signal, retryMs } = reading;
  if (text === "scratch") return scratch;
  const reference = parseReference(text);
  if (!reference || reference.host !== registry.host)
    throw new Error(
      `${text} is not an image of ${registry.host}; only its images and scratch can be a base here`,
    );
  const { path, tag, digest } = reference;
  const wanted = { path, reference: digest ?? tag ?? "latest", text };
  const { manifest } = await findImage(registry, wanted, signal);
  if (manifest.config.size > 4 << 20) throw new Error(`the configuration of ${text} is too large`);
  const bytes = await retried(
    async () => Buffer.concat(await all(registry.getBlob(path, manifest.config, signal))),
    { forMs: retryMs, signal },
  );
  const parsed = ImageConfig.safeParse(JSON.parse(bytes.toString("utf8")));
  if (!parsed.success || parsed.data.rootfs.diff_ids.length !== manifest.layers.length)
    throw new Error(`${text} has an invalid configuration`);
  const { rootfs, config, history = [], ...platform } = parsed.data;
  const layers = manifest.layers.map((descriptor, index) => ({
    descriptor: { ...descriptor, mediaType: ociTypeOf(descriptor.mediaType) },
    diffId: rootfs.diff_ids[index] ?? "",
  }));
  const kept = Object.entries(config ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return { platform, config: Object.fromEntries(kept), history, layers, path };
}

type Wanted = { path: string; reference: string; text: string };

/** The image for this architecture. Throws one sentence. */
export async function findImage(
  registry: Registry,
  { path, reference, text }: Wanted,
  signal: AbortSignal,
): Promise<{ manifest: ImageManifest; raw: Manifest }> {
  const found = await registry.getManifest(path, reference, signal);
  if (!found) throw new Error(`${text} is not in the registry`);
  const manifest = parseManifest(found);
  if (manifest.kind === "image") return { manifest, raw: found };
  const ours = manifest.manifests.find(
    ({ platform }) => platform?.os === "linux" && platform.architecture === architecture,
  );
  if (!ours) throw new Error(`${text} has no image for linux/${architecture}`);
  return findImage(registry, { path, reference: ours.digest, text }, signal);
}

function ociTypeOf(mediaType: string): string {
  if (mediaType === "application/vnd.docker.image.rootfs.diff.tar.gzip") return mediaTypes.layerGzip;
  if (mediaType === "application/vnd.docker.image.rootfs.diff.tar") return mediaTypes.layer;
  return mediaType;
}

/** Fetches a layer into `folder` and adds its files to the tree. */
export async function fetchLayer(
  { path, descriptor }: { path: string; descriptor: Descriptor },
  registry: Registry,
  { folder, tree, signal, retryMs }: Reading & { folder: string; tree: FileTree },
): Promise<string> {
  const file = join(folder, descriptor.digest.replace(":", "-"));
  await retried(() => pipeline(registry.getBlob(path, descriptor, signal), createWriteStream(file)), {
    forMs: retryMs,
    signal,
  });
  const headers = readTarAs(unpacked(file, descriptor.mediaType), (header) => header);
  for await (const { path: name, type, target = "" } of headers) {
    const at = join("/", name);
    if (type === "2") tree.addLayerEntry(at, { kind: "link", target });
    else tree.addLayerEntry(at, { kind: type === "5" ? "folder" : "file" });
  }
  return file;
}

function unpacked(file: string, mediaType: string): AsyncIterable<Buffer> {
  const bytes = createReadStream(file, { highWaterMark: 256 << 10 });
  if (mediaType === mediaTypes.layer) return bytes;
  if (mediaType === mediaTypes.layerGzip) return through(bytes, createGunzip());
  if (mediaType === `${mediaTypes.layer}+zstd`) return through(bytes, createZstdDecompress());
  throw new Error(`the base has a layer of the unknown type ${mediaType}`);
}

async function* through(bytes: Readable, unpack: NodeJS.ReadWriteStream): AsyncGenerator<Buffer> {
  bytes.on("error", (error) => (unpack as unknown as Readable).destroy(error));
  yield* bytes.pipe(unpack) as unknown as AsyncIterable<Buffer>;
}

async function all(chunks: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const found: Buffer[] = [];
  for await (const chunk of chunks) found.push(chunk);
  return found;
}
