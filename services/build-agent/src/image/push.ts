// The step `push`: the image archive goes to the registry, its manifest last, under a tag of this build alone: the tag that
// people use names only what builds has recorded (docs/reference/builds.md#tag).

import { join } from "node:path";
import * as buildJobs from "@svc/proto/build-job";
import { isRegistryError, openRegistry, parseReference, type Registry } from "@svc/registry";
import type { Settings } from "../config.ts";
import { StepFailure } from "../failure.ts";
import { keepLayers, type LayerCache, openLayerCache } from "../layer-cache/cache.ts";
import { diffIdsIn, layersToKeep } from "../layer-cache/entry.ts";
import type { StepContext } from "../step.ts";
import { type ImageArchive, openImageArchive } from "./archive.ts";

const { buildFiles } = buildJobs;

/** Returns a `PushResult`. */
export function pushImage(settings: Settings, context: StepContext): Promise<string> {
  return push(settings, context).catch((error: Error) => {
    if (!isRegistryError(error, "unavailable")) throw error;
    const message = `the registry is unavailable; retry the build later. ${error.message}`;
    throw new StepFailure(message, { cause: error });
  });
}

async function push(settings: Settings, context: StepContext): Promise<string> {
  const { task } = settings;
  const { say, signal, limits } = context;
  const target = parseReference(task.image_ref);
  if (!target?.tag || target.host !== task.registry.host)
    throw new StepFailure(`${task.image_ref} is not a tag in the registry ${task.registry.host}`);
  const credential = credentialOf(settings.secret("registry", buildFiles.registryCredential));
  const registry = openRegistry({
    host: task.registry.host,
    plainHttp: task.registry.plain_http,
    credential,
    timeoutMs: limits.registryMs,
    retryForMs: limits.registryRetryMs,
  });
  await using image = await openImageArchive(join(settings.folder("image"), buildFiles.imageTar));
  const { raw } = image;
  const cache = openLayerCache(settings, context, credential);
  const { bytes, reused } = await sendBlobs(image, { registry, path: target.path, cache }, context);
  const { mediaType } = raw;
  const tag = buildJobs.pushTagOf(task.build_id);
  const digest = await registry.putManifest(target.path, tag, { mediaType, bytes: raw.bytes, signal });
  // What the tag names now, not what was sent.
  const stored = await registry.headManifest(target.path, tag, signal);
  if (stored?.digest !== digest)
    throw new StepFailure(
      `${target.path}:${tag} names ${stored?.digest ?? "nothing"} after the push of ${digest}`,
    );
  say(`pushed ${task.image_ref}@${digest}`);
  if (cache) await keepLayersOf(image, { cache, from: target.path });
  return JSON.stringify({
    digest,
    bytes: bytes + raw.bytes.length,
    tag,
    ...(cache && { reused_bytes: reused }),
  } satisfies buildJobs.PushResult);
}

type Target = { registry: Registry; path: string; cache: LayerCache | undefined };

/** Bytes of all blobs, and of those that the registry had. */
async function sendBlobs(
  image: ImageArchive,
  { registry, path, cache }: Target,
  { say, signal }: Pick<StepContext, "say" | "signal">,
): Promise<{ bytes: number; reused: number }> {
  let [bytes, reused] = [0, 0];
  const blobs = [...image.manifest.layers, image.manifest.config];
  // The registry checks only what is sent; what it has must be what was scanned. All of them first: a push that pauses would let
  // garbage be collected.
  for (const blob of blobs) await image.verify(blob, signal);
  for (const blob of blobs) {
    const { digest, size } = blob;
    const source = { digest, size, open: () => image.open(blob), mountFrom: cache?.path };
    const isSent = await registry.putBlob(path, source, signal);
    bytes += size;
    if (!isSent) reused += size;
    say(`${digest} ${isSent ? "sent" : "was there"} (${size} bytes)`);
  }
  return { bytes, reused };
}

/** The builder wrote the configuration, so a tag may promise another layer than it names: whoever uses it checks that. */
async function keepLayersOf(image: ImageArchive, to: { cache: LayerCache; from: string }): Promise<void> {
  const { layers, config } = image.manifest;
  const read = await image.read(config).catch(() => Buffer.alloc(0));
  const kept = layersToKeep(layers, diffIdsIn(read));
  await keepLayers(to.cache, { kept, from: to.from, open: image.open });
}

function credentialOf(text: string | undefined): { user: string; password: string } | undefined {
  if (text === undefined) return undefined;
  const colon = text.indexOf(":");
  if (colon < 1) throw new Error("the credential of the registry must be user:password");
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
