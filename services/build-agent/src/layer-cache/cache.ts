// Layers of earlier builds of the same author. What is found is used only after its bytes were checked against what this
// build wants, so no entry can change an image, whoever wrote it. A cache that fails costs time and nothing else.

import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import {
  type Descriptor,
  digestOf,
  isRegistryError,
  mediaTypes,
  openRegistry,
  type Registry,
} from "@svc/registry";
import type { Settings } from "../config.ts";
import type { StepContext } from "../step.ts";
import { emptyConfig, entryOf, layerOf, tagOf } from "./entry.ts";

export type LayerCache = {
  registry: Registry;
  /** Repository of the author's layers. */
  path: string;
  signal: AbortSignal;
  say: (line: string) => void;
  /** Once the registry has not answered, this build does without. */
  isDown: boolean;
};

/** Without a credential it can be read. Undefined for a build without a cache. Nothing is asked twice. */
export function openLayerCache(
  { task: { layer_cache: path, registry } }: Pick<Settings, "task">,
  { say, signal, limits }: StepContext,
  credential?: { user: string; password: string },
): LayerCache | undefined {
  if (path === undefined) return undefined;
  const { host, plain_http: plainHttp } = registry;
  const opened = openRegistry({ host, plainHttp, credential, timeoutMs: limits.registryMs });
  return { registry: opened, path, say, signal, isDown: false };
}

type Wanted = { diffId: string; plainBytes: number };

/** Packing adds a little to what does not shrink. */
const packedFactor = 1.01;

/** Fetches the layer with this plain tar into `file`; undefined when the cache has none, or something else in its place. */
export async function fetchCached(
  cache: LayerCache,
  wanted: Wanted,
  file: string,
): Promise<Descriptor | undefined> {
  const { registry, path, signal, say } = cache;
  if (cache.isDown) return undefined;
  try {
    const found = await registry.getManifest(path, tagOf(wanted.diffId) ?? "", signal);
    const layer = found && layerOf(found, wanted.plainBytes * packedFactor + 65_536);
    if (!layer) return undefined;
    await pipeline(registry.getBlob(path, layer, signal), createWriteStream(file), { signal });
    await assertPlain(file, wanted, signal);
    return layer;
  } catch (error) {
    signal.throwIfAborted();
    cache.isDown = isRegistryError(error, "unavailable");
    await rm(file, { force: true });
    say(`the cached layer ${wanted.diffId} is not used: ${(error as Error).message}`);
    return undefined;
  }
}

/** Throws when a packed layer is not the plain tar that is wanted. */
async function assertPlain(file: string, { diffId, plainBytes }: Wanted, signal: AbortSignal): Promise<void> {
  const hash = createHash("sha256");
  let bytes = 0;
  const count = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      bytes += chunk.length;
      hash.update(chunk);
      done(bytes > plainBytes ? new Error(`it has more than ${plainBytes} bytes`) : null);
    },
  });
  await pipeline(createReadStream(file, { highWaterMark: 256 << 10 }), createGunzip(), count, { signal });
  const digest = `sha256:${hash.digest("hex")}`;
  if (digest !== diffId) throw new Error(`it holds ${digest}`);
}

type Kept = { layer: Descriptor; tag: string };

/** Keeps layers of an image that has been pushed to `from`; what was kept before counts as used now. */
export async function keepLayers(
  { registry, path, signal, say }: LayerCache,
  { kept, from, open }: { kept: readonly Kept[]; from: string; open: (layer: Descriptor) => Readable },
): Promise<void> {
  try {
    const config = { digest: digestOf(emptyConfig), size: emptyConfig.length };
    if (kept.length > 0)
      await registry.putBlob(path, { ...config, open: () => Readable.from([emptyConfig]) }, signal);
    for (const { layer, tag } of kept) {
      const { digest, size } = layer;
      const bytes = entryOf(layer);
      // A tag never moves: what it named before would stay in the registry without a name.
      const there = await registry.headManifest(path, tag, signal);
      if (there && there.digest !== digestOf(bytes)) continue;
      await registry.putBlob(path, { digest, size, open: () => open(layer), mountFrom: from }, signal);
      await registry.putManifest(path, tag, { mediaType: mediaTypes.manifest, bytes, signal });
    }
    if (kept.length > 0) say(`kept ${kept.length} layers for later builds`);
  } catch (error) {
    signal.throwIfAborted();
    say(`layers are not kept for later builds: ${(error as Error).message}`);
  }
}
