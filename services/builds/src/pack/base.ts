// Which base image a pack is built on: the operator's table by loader and version of Minecraft. Pure.

import { Fault, packs } from "@svc/proto";
import { parseReference } from "@svc/registry";

type Needs = Pick<packs.PackPlan, "loader" | "minecraft">;

const lineShape = /^([a-z]+)\/(\*|[A-Za-z0-9][A-Za-z0-9._+-]{0,63})=(\S{1,512})$/;

type BaseLine = Needs & { image: string };

function readLine(text: string): BaseLine | undefined {
  const [, loader, minecraft = "", image = ""] = lineShape.exec(text) ?? [];
  const known = packs.PackLoader.safeParse(loader);
  if (!known.success || parseReference(image) === undefined) return undefined;
  return { loader: known.data, minecraft, image };
}

/** The image with its host; an exact version is preferred to `*`. Throws `bad_request` when the table has none. */
export function chooseBase(table: readonly string[], { loader, minecraft }: Needs, registry: string): string {
  const lines = table.flatMap((text) => readLine(text) ?? []);
  const ofLoader = lines.filter((line) => line.loader === loader);
  const found =
    ofLoader.find((line) => line.minecraft === minecraft) ?? ofLoader.find((line) => line.minecraft === "*");
  if (!found) throw new Fault("bad_request", { message: whyNone(lines, { loader, minecraft }) });
  return parseReference(found.image)?.host === undefined ? `${registry}/${found.image}` : found.image;
}

const mostShown = 20;

function whyNone(lines: readonly BaseLine[], { loader, minecraft }: Needs): string {
  if (lines.length === 0)
    return "Packs without a Dockerfile are not set up here: the setting builds.pack_bases is empty.";
  const all = lines.slice(0, mostShown).map((line) => `${line.loader} ${line.minecraft}`);
  return `There is no base image for ${loader} on Minecraft ${minecraft}; the operator has set up ${all.join(", ")} (builds.pack_bases).`;
}
