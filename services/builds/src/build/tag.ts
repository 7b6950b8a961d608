// Gives an image that was pushed, judged and recorded the tag that was asked for. Until then that tag names what it named before.

import { parseReference } from "@svc/registry";
import { type PushDeps, PushRefused, writeTo } from "./push-registry.ts";
import type { BuildRow } from "./row.ts";

/** Repeats change nothing. Throws as `writeTo` does. */
export type TagImage = (row: Pick<BuildRow, "image_ref" | "image_digest">) => Promise<void>;

export function createTagImage(deps: PushDeps): TagImage {
  return ({ image_ref, image_digest: digest }) =>
    writeTo(deps, {
      what: "push",
      write: async (registry) => {
        const { path, tag } = parseReference(image_ref) ?? { path: "", tag: undefined };
        if (digest === null || tag === undefined) throw new Error("only a build with a digest is tagged");
        const manifest = await registry.getManifest(path, digest);
        if (!manifest) throw new PushRefused(`push: the registry no longer has ${path}@${digest}`);
        const { mediaType, bytes } = manifest;
        await registry.putManifest(path, tag, { mediaType, bytes });
      },
    });
}
