import type { Mesh } from "@svc/mesh";
import { images as builds, type imageChoices, versionLabel } from "@svc/proto";
import type { LifecycleSettings } from "../config.ts";
import { repositoryOf, suggestImage, type VersionCount, type VersionImage } from "./suggest.ts";
import type { VersionStore } from "./version-store.ts";

export type ChoiceDeps = {
  mesh: Pick<Mesh, "call">;
  versions: VersionStore;
  settings: Pick<LifecycleSettings, "default_image">;
};
type Choice = {
  imageRef: string;
  choice: imageChoices.VersionChoice;
  counts: readonly VersionCount[];
  images: readonly VersionImage[];
};

/** The image of a server that names none, among the tags of the default image's repository. */
export async function chooseImage(
  { mesh, versions, settings }: ChoiceDeps,
  context: Parameters<Mesh["call"]>[2],
): Promise<Choice> {
  const { default_image: defaultImage } = settings;
  const repository = repositoryOf(defaultImage);
  const [counts, { images }] = await Promise.all([
    versions.count(),
    mesh.call(builds.listVersions, { repository }, context),
  ]);
  const { imageRef, protocol, players, of } = suggestImage(counts, images, defaultImage);
  const version = protocol === undefined ? undefined : versionLabel(protocol);
  return { imageRef, choice: { ...(version !== undefined && { version }), players, of }, counts, images };
}
