// Everything that the registry has: what a tag names, what builds pushed, and the parts of both.

import { parseManifest, type Registry, subjectOfTag } from "@svc/registry";
import { z } from "zod";
import type { Named, Stored } from "./plan.ts";

type Options = {
  registry: Registry;
  /** Digests that may have lost their tags. */
  untagged: readonly Named[];
  signal: AbortSignal;
};

const Subject = z.object({ subject: z.object({ digest: z.string() }).optional() });

/** Throws `RegistryError` when anything can't be read, or names no time of its push. */
export async function readInventory({ registry, untagged, signal }: Options): Promise<Stored[]> {
  const found = new Map<string, Stored>();
  const add = async (repository: string, reference: string, tag?: string): Promise<void> => {
    const manifest = await registry.getManifest(repository, reference, signal);
    // Deleted since it was listed.
    if (!manifest) return;
    const key = `${repository}@${manifest.digest}`;
    const known = found.get(key);
    if (known) {
      if (tag !== undefined) found.set(key, { ...known, tags: [...known.tags, tag] });
      return;
    }
    if (!manifest.pushedAt) {
      throw new Error(`the registry does not say when ${key} was pushed; svc must reach it through its gate`);
    }
    const parsed = parseManifest(manifest);
    const own = Subject.parse(JSON.parse(manifest.bytes.toString("utf8")));
    const parts = parsed.kind === "index" ? parsed.manifests.map(({ digest }) => digest) : [];
    const { digest, pushedAt } = manifest;
    const bytes = parsed.kind === "image" ? parsed.layers.reduce((sum, { size }) => sum + size, 0) : 0;
    const tags = tag === undefined ? [] : [tag];
    // In a registry without the referrers API an index under such a tag is the list of them.
    const subject = own.subject?.digest ?? (parsed.kind === "index" && tag ? subjectOfTag(tag) : undefined);
    found.set(key, { repository, digest, tags, pushedAt, bytes, parts, subject });
    for (const part of parts) await add(repository, part);
  };
  for (const repository of await registry.listRepositories(signal)) {
    for (const tag of await registry.listTags(repository, signal)) await add(repository, tag, tag);
  }
  for (const { repository, digest } of untagged) {
    if (digest !== undefined && !found.has(`${repository}@${digest}`)) await add(repository, digest);
  }
  return [...found.values()];
}
