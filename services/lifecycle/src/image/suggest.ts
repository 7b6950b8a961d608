// Which image a server gets that names none (docs/reference/images.md#versions). Pure.
//
// | players of the last seven days                    | then                                                  |
// |---------------------------------------------------|-------------------------------------------------------|
// | a version has the most, and an image               | its image                                             |
// | as many have two versions                          | the newer one                                         |
// | a version that no image runs                       | chooses nothing: those players could join none of them |
// | nobody came, or only with versions without images  | the default image                                     |
// | two images run the version                         | the default image if it is one, else the newest name   |

import { protocolOf } from "@svc/proto";

/** Players who came with a version, each counted once. */
export type VersionCount = { protocol: number; players: number };

/** An image that may be used, and the version that its label or its tag says. */
export type VersionImage = { image_ref: string; version: string };

type Suggestion = {
  imageRef: string;
  /** Absent when the default image names no version that we know. */
  protocol?: number | undefined;
  players: number;
  of: number;
};

export function suggestImage(
  counts: readonly VersionCount[],
  images: readonly VersionImage[],
  defaultImage: string,
): Suggestion {
  const byProtocol = imagesByProtocol(images, defaultImage);
  const of = counts.reduce((sum, { players }) => sum + players, 0);
  const [most] = counts
    .filter(({ protocol, players }) => players > 0 && byProtocol.has(protocol))
    .sort((a, b) => b.players - a.players || b.protocol - a.protocol);
  const imageRef = most && byProtocol.get(most.protocol);
  if (most && imageRef !== undefined) return { imageRef, ...most, of };
  const known = images.find(({ image_ref }) => image_ref === defaultImage);
  return {
    imageRef: defaultImage,
    protocol: protocolOf(known?.version ?? tagOf(defaultImage)),
    players: 0,
    of,
  };
}

/** One image for each version that we know. */
export function imagesByProtocol(
  images: readonly VersionImage[],
  defaultImage: string,
): ReadonlyMap<number, string> {
  const rank = ({ image_ref, version }: VersionImage) =>
    [image_ref === defaultImage ? 1 : 0, version] as const;
  const isBetter = (one: VersionImage, other: VersionImage) => {
    const [[own, version], [others, otherVersion]] = [rank(one), rank(other)];
    return own === others ? version.localeCompare(otherVersion, "en", { numeric: true }) > 0 : own > others;
  };
  const best = new Map<number, VersionImage>();
  for (const image of images) {
    const protocol = protocolOf(image.version);
    if (protocol === undefined) continue;
    const known = best.get(protocol);
    if (!known || isBetter(image, known)) best.set(protocol, image);
  }
  return new Map([...best].map(([protocol, { image_ref }]) => [protocol, image_ref]));
}

const withoutDigest = (imageRef: string) => imageRef.split("@", 1)[0] ?? "";

/** `1.21.4` of `host/name:1.21.4@sha256:…`; empty without a tag. */
export function tagOf(imageRef: string): string {
  return withoutDigest(imageRef).slice(repositoryOf(imageRef).length + 1);
}

/** `host/name` of `host/name:tag@sha256:…`. */
export function repositoryOf(imageRef: string): string {
  return withoutDigest(imageRef).replace(/:[^/:]*$/, "");
}
