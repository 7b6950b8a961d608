// The step `push`: the image archive goes to the registry, its manifest last.

import { join } from "node:path";
import * as buildJobs from "@svc/proto/build-job";
import { isRegistryError, openRegistry, parseReference } from "@svc/registry";
import type { Settings } from "../config.ts";
import { StepFailure } from "../failure.ts";
import type { StepContext } from "../step.ts";
import { openImageArchive } from "./archive.ts";

const { buildFiles } = buildJobs;

/** Returns a `PushResult`. */
export function pushImage(settings: Settings, context: StepContext): Promise<string> {
  return push(settings, context).catch((error: Error) => {
    if (!isRegistryError(error, "unavailable")) throw error;
    const message = `the registry is unavailable; retry the build later. ${error.message}`;
    throw new StepFailure(message, { cause: error });
  });
}

async function push(settings: Settings, { say, signal, limits }: StepContext): Promise<string> {
  const { task } = settings;
  const target = parseReference(task.image_ref);
  if (!target?.tag || target.host !== task.registry.host)
    throw new StepFailure(`${task.image_ref} is not a tag in the registry ${task.registry.host}`);
  const registry = openRegistry({
    host: task.registry.host,
    plainHttp: task.registry.plain_http,
    credential: credentialOf(settings.secret("registry", buildFiles.registryCredential)),
    timeoutMs: limits.registryMs,
    retryForMs: limits.registryRetryMs,
  });
  await using image = await openImageArchive(join(settings.folder("image"), buildFiles.imageTar));
  const { manifest, raw } = image;
  let bytes = raw.bytes.length;
  for (const blob of [...manifest.layers, manifest.config]) {
    const { digest, size } = blob;
    const isSent = await registry.putBlob(
      target.path,
      { digest, size, open: () => image.open(blob) },
      signal,
    );
    bytes += size;
    say(`${digest} ${isSent ? "sent" : "was there"} (${size} bytes)`);
  }
  const { mediaType } = raw;
  const digest = await registry.putManifest(target.path, target.tag, { mediaType, bytes: raw.bytes, signal });
  // What the tag names now, not what was sent.
  const stored = await registry.headManifest(target.path, target.tag, signal);
  if (stored?.digest !== digest)
    throw new StepFailure(
      `${task.image_ref} names ${stored?.digest ?? "nothing"} after the push of ${digest}`,
    );
  say(`pushed ${task.image_ref}@${digest}`);
  return JSON.stringify({ digest, bytes } satisfies buildJobs.PushResult);
}

function credentialOf(text: string | undefined): { user: string; password: string } | undefined {
  if (text === undefined) return undefined;
  const colon = text.indexOf(":");
  if (colon < 1) throw new Error("the credential of the registry must be user:password");
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
