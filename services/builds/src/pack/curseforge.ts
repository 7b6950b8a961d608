// `manifest.json` of a CurseForge pack. It names files by project and file id alone, without addresses, sizes or hashes, so
// that only a pack that brings all its files can be built. Pure.

import { packs } from "@svc/proto";
import { z } from "zod";
import { indexFiles, type PackSource, parseIndex, plainText, refuse, versionText } from "./source.ts";

const id = z.number().int().min(0);
const manifestShape = z.object({
  manifestType: z.literal("minecraftModpack"),
  manifestVersion: z.literal(1),
  name: plainText.default(""),
  version: plainText.default(""),
  minecraft: z.object({
    version: versionText,
    modLoaders: z.array(z.object({ id: z.string().max(200), primary: z.boolean().optional() })).default([]),
  }),
  files: z.array(z.object({ projectID: id, fileID: id, required: z.boolean().default(true) })).default([]),
  overrides: z.string().min(1).max(255).default("overrides"),
});

const mostShown = 10;

/** Throws `bad_request` with the field that is wrong, or with the files that the zip must bring itself. */
export function readCurseForge(text: string): PackSource {
  const { name, version, minecraft, files, overrides } = parseIndex(
    indexFiles.curseforge,
    text,
    manifestShape,
  );
  const missing = files.filter(({ required }) => required);
  if (missing.length > 0) throw refuse(whyMissing(missing, overrides));
  const loaders = minecraft.modLoaders;
  const main = loaders.find(({ primary }) => primary) ?? loaders[0];
  return {
    format: "curseforge",
    name,
    version,
    ...loaderOf(main?.id),
    minecraft: minecraft.version,
    files: [],
    overlays: [overrides.endsWith("/") ? overrides.slice(0, -1) : overrides],
  };
}

function whyMissing(files: readonly { projectID: number; fileID: number }[], overrides: string): string {
  const shown = files
    .slice(0, mostShown)
    .map(({ projectID, fileID }) => `project ${projectID} file ${fileID}`);
  const more = files.length > mostShown ? ` and ${files.length - mostShown} more` : "";
  return (
    `${indexFiles.curseforge} names ${files.length} files by their ids alone, without addresses and hashes: ` +
    `${shown.join(", ")}${more}. Put them into ${overrides}/mods of the zip and take them out of "files", ` +
    "or export the pack for Modrinth (.mrpack)."
  );
}

function loaderOf(given: string | undefined): Pick<PackSource, "loader" | "loader_version"> {
  if (given === undefined) return { loader: "vanilla" };
  const dash = given.indexOf("-");
  const loader = packs.PackLoader.safeParse(given.slice(0, Math.max(0, dash)));
  const loaderVersion = versionText.safeParse(given.slice(dash + 1));
  if (!loader.success || !loaderVersion.success)
    throw refuse(
      `${indexFiles.curseforge}: minecraft.modLoaders: ${JSON.stringify(given)} is not a LOADER-VERSION of ${packs.PackLoader.options.join(", ")}.`,
    );
  return { loader: loader.data, loader_version: loaderVersion.data };
}
