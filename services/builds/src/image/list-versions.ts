import type { Handler } from "@svc/mesh";
import { images } from "@svc/proto";
import { isRegistryError, parseReference } from "@svc/registry";
import type { BuildsDb } from "../database.ts";
import type { PlatformRegistry } from "./registry.ts";
import { listTagsOf } from "./store.ts";

type Deps = { db: BuildsDb; registry: PlatformRegistry | undefined };

/** builds.image.list-versions: images of the platform's registry say it in a label; of all others the tag counts. */
export function createListVersions({ db, registry }: Deps): Handler<typeof images.listVersions> {
  const versionOf = async (image_ref: string, signal: AbortSignal) => {
    const { host, path, tag } = parseReference(image_ref) ?? {};
    if (path === undefined || tag === undefined) return [];
    const label = host === registry?.host ? await registry?.readVersion({ path, tag }, signal) : undefined;
    return [{ image_ref, version: label ?? tag }];
  };
  return async (context, { repository }) => {
    const refs = await listTagsOf(db, { repository, limit: images.maxVersions });
    try {
      const found = await Promise.all(refs.map((ref) => versionOf(ref, context.signal)));
      return { images: found.flat() };
    } catch (error) {
      if (!isRegistryError(error)) throw error;
      throw context.fault("registry_unavailable", { cause: error });
    }
  };
}
