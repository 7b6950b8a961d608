// Which images were built on a base that has moved since, and which servers run an image whose tag has
// (docs/reference/builds.md#bases). Pure.

import type { images } from "@svc/proto";
import { parseReference } from "@svc/registry";

export type BuiltImage = {
  image_ref: string;
  build_id: string;
  bases: readonly { image_ref: string; digest: string }[];
  /** A build of the same image that has not ended. */
  unfinished: string | null;
};
export type UsedImages = { server: string; images: readonly string[] };
/** What a tag names now; null when it is gone. */
export type Digests = ReadonlyMap<string, string | null>;

/** Tags whose digests `decideOutdated` needs. */
export function tagsOf(built: readonly BuiltImage[], used: readonly UsedImages[], host: string): string[] {
  const bases = built.flatMap(({ bases }) => bases.map(({ image_ref }) => image_ref));
  const ours = used.flatMap(({ images: refs }) => refs.flatMap((ref) => tagOf(ref, host) ?? []));
  return [...new Set([...bases.filter((ref) => !ref.includes("@")), ...ours])];
}

export function decideOutdated(
  { built, used, host }: { built: readonly BuiltImage[]; used: readonly UsedImages[]; host: string },
  digests: Digests,
): images.Outdated {
  return {
    images: built.flatMap(({ image_ref, build_id, bases, unfinished }) => {
      const moved = bases.flatMap((base) => {
        const now = digests.get(base.image_ref);
        return now && now !== base.digest ? [{ ...base, now }] : [];
      });
      if (moved.length === 0) return [];
      return [{ image_ref, build_id, moved, ...(unfinished !== null && { rebuild: unfinished }) }];
    }),
    servers: used.flatMap(({ server, images: refs }) =>
      refs.flatMap((image_ref) => {
        const tag = tagOf(image_ref, host);
        const now = tag === undefined ? undefined : digests.get(tag);
        return tag !== undefined && now && !image_ref.endsWith(`@${now}`)
          ? [{ server, image_ref, newest: tag, digest: now }]
          : [];
      }),
    ),
  };
}

/** `host/name:tag` of what a server is pinned to; undefined for what no tag can update. */
function tagOf(ref: string, host: string): string | undefined {
  const reference = parseReference(ref);
  if (reference?.host !== host || reference.tag === undefined || reference.digest === undefined)
    return undefined;
  return `${reference.name}:${reference.tag}`;
}
