// The step `pull` of a scan: the image comes from the registry as it is, each blob checked against its digest.

import { join } from "node:path";
import * as buildJobs from "@svc/proto/build-job";
import { openRegistry, parseReference, retried } from "@svc/registry";
import { findImage } from "../assemble/base.ts";
import { writeArchive } from "../assemble/write-archive.ts";
import type { Settings } from "../config.ts";
import { StepFailure } from "../failure.ts";
import type { StepContext } from "../step.ts";

export async function pullImage(
  settings: Settings,
  { say, signal, limits }: StepContext,
): Promise<undefined> {
  const { image_ref, image_digest, registry: where } = settings.task;
  const reference = parseReference(image_ref);
  if (!reference || reference.host !== where.host || image_digest === undefined)
    throw new StepFailure(`${image_ref} is not an image with a digest in the registry ${where.host}`);
  const { path } = reference;
  const registry = openRegistry({
    host: where.host,
    plainHttp: where.plain_http,
    timeoutMs: limits.registryMs,
    retryForMs: limits.retryMs,
  });
  try {
    const wanted = { path, reference: image_digest, text: `${image_ref} (${image_digest})` };
    const { manifest, raw } = await findImage(registry, wanted, signal);
    const others = [...manifest.layers, manifest.config].map((descriptor) => ({
      descriptor,
      open: () => registry.getBlob(path, descriptor, signal),
    }));
    const { bytes, digest, mediaType } = raw;
    const archive = join(settings.folder("image"), buildJobs.buildFiles.imageTar);
    const own = { descriptor: { mediaType, digest, size: bytes.length }, bytes };
    await retried(() => writeArchive(archive, { manifest: own, others }, signal), {
      forMs: limits.retryMs,
      signal,
    });
    say(`pulled ${image_ref}, ${others.length} blobs`);
  } catch (error) {
    signal.throwIfAborted();
    throw new StepFailure((error as Error).message, { cause: error });
  }
  return undefined;
}
