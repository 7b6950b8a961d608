// Everything that keeps an image. A source that can't be read makes the whole call throw: nothing is deleted then.

import type { Mesh } from "@svc/mesh";
import { servers } from "@svc/proto";
import { parseReference } from "@svc/registry";
import type { BuildsDb } from "../database.ts";
import type { Keepers, Named } from "./plan.ts";

type Deps = {
  db: BuildsDb;
  mesh: Pick<Mesh, "call">;
  /** Host of the registry. */
  host: string;
  /** References that the platform itself uses. */
  platformImages: readonly string[];
};

export async function readKeepers({ db, mesh, host, platformImages }: Deps): Promise<Keepers> {
  const onRegistry = (refs: readonly (string | null)[]) => refs.flatMap((ref) => namedBy(ref, host) ?? []);
  const [whitelist, builds, used] = await Promise.all([
    db.selectFrom("image_whitelist").select("image_ref").execute(),
    db
      .selectFrom("image_builds")
      .select(["image_ref", "base_image", "image_digest"])
      .where("status", "in", ["pending", "building"])
      .execute(),
    imagesOfServers(mesh),
  ]);
  return {
    whitelist: onRegistry(whitelist.map(({ image_ref }) => image_ref)),
    server: onRegistry(used.flatMap(({ images }) => images)),
    // Of one that was pushed its digest too: its tag may still name another image.
    build: onRegistry(
      builds.flatMap(({ image_ref, base_image, image_digest }) => [
        ...[image_ref, base_image],
        image_digest === null || image_ref.includes("@") ? null : `${image_ref}@${image_digest}`,
      ]),
    ),
    platform: onRegistry(platformImages),
  };
}

/** Of all servers, and of pods beside them; throws when lifecycle can't be asked. */
export async function imagesOfServers(
  mesh: Pick<Mesh, "call">,
): Promise<{ server: string; images: string[] }[]> {
  const found: { server: string; images: string[] }[] = [];
  let cursor: string | undefined;
  do {
    const page = await mesh.call(servers.listImages, cursor === undefined ? {} : { cursor });
    found.push(...page.items);
    cursor = page.next;
  } while (cursor !== undefined);
  return found;
}

/** Undefined for images of other hosts. A pinned reference keeps its tag as well as its digest. */
export function namedBy(ref: string | null, host: string): Named[] | undefined {
  if (ref === null) return undefined;
  const isWhole = ref.endsWith(":*");
  const reference = parseReference(isWhole ? ref.slice(0, -2) : ref);
  if (reference?.host !== host) return undefined;
  const { path: repository, tag, digest } = reference;
  if (isWhole) return [{ repository }];
  const byTag = { repository, tag: tag ?? "latest" };
  if (digest === undefined) return [byTag];
  return tag === undefined ? [{ repository, digest }] : [{ repository, digest }, byTag];
}

/** Manifests that builds pushed, and their provenance: a tag may have moved away from them since. */
export async function findBuiltDigests(db: BuildsDb, host: string): Promise<Named[]> {
  const rows = await db
    .selectFrom("image_builds as b")
    .leftJoin("image_provenances as p", "p.build_id", "b.id")
    .select(["b.image_ref", "b.image_digest", "p.manifest_digest"])
    .where("b.image_digest", "is not", null)
    .distinct()
    .execute();
  return rows.flatMap(({ image_ref, image_digest, manifest_digest }) => {
    const reference = parseReference(image_ref);
    if (reference?.host !== host || image_digest === null) return [];
    const { path: repository } = reference;
    const image = { repository, digest: image_digest };
    return manifest_digest === null ? [image] : [image, { repository, digest: manifest_digest }];
  });
}
