// The version of the game that an image says it runs (docs/reference/images.md#versions).

import { gameVersionLabel } from "@svc/proto/base-image";
import { parseManifest, type Registry } from "@svc/registry";
import { z } from "zod";

/** A configuration holds the history of all layers, and is never read further than this. */
const maxConfigBytes = 1 << 20;
const Labels = z.object({
  config: z
    .object({ Labels: z.object({ [gameVersionLabel]: z.string().max(64).optional() }).nullish() })
    .nullish(),
});

type Named = { path: string; digest: string };

/** Of an image for several platforms the first says it. Undefined without a label, and for what is no image. */
export async function readVersionLabel(
  registry: Pick<Registry, "getManifest" | "getBlob">,
  { path, digest }: Named,
  signal: AbortSignal,
): Promise<string | undefined> {
  const manifest = await registry.getManifest(path, digest, signal);
  const parsed = manifest && parseManifest(manifest);
  if (parsed?.kind === "index") {
    const [first] = parsed.manifests;
    if (!first || first.digest === digest || isIndex(first.mediaType)) return undefined;
    return readVersionLabel(registry, { path, digest: first.digest }, signal);
  }
  if (!parsed || parsed.config.size > maxConfigBytes) return undefined;
  const parts: Buffer[] = [];
  for await (const part of registry.getBlob(path, parsed.config, signal)) parts.push(part);
  return labelIn(Buffer.concat(parts));
}

// An index of indexes could go on for ever.
const isIndex = (mediaType: string) => /index|list/.test(mediaType);

function labelIn(config: Buffer): string | undefined {
  try {
    return Labels.safeParse(JSON.parse(config.toString("utf8"))).data?.config?.Labels?.[gameVersionLabel];
  } catch {
    return undefined;
  }
}
