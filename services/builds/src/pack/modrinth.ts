// `modrinth.index.json` of a `.mrpack`, format version 1. Pure.

import type { packs } from "@svc/proto";
import { z } from "zod";
import {
  fileSize,
  hexText,
  indexFiles,
  type PackSource,
  parseIndex,
  plainText,
  refuse,
  versionText,
  type WantedFile,
} from "./source.ts";

const side = z.enum(["required", "optional", "unsupported"]);
const indexShape = z.object({
  formatVersion: z.literal(1),
  game: z.literal("minecraft"),
  versionId: plainText,
  name: plainText,
  files: z.array(
    z.object({
      path: z.string(),
      // SHA-1 alone is no proof against somebody who wants another file.
      hashes: z.object({ sha512: hexText(128), sha1: hexText(40).optional() }),
      env: z.object({ server: side }).optional(),
      downloads: z.array(z.string()).min(1),
      fileSize,
    }),
  ),
  dependencies: z.record(z.string(), versionText),
});

const loaders: Readonly<Record<string, packs.PackLoader>> = {
  "fabric-loader": "fabric",
  "quilt-loader": "quilt",
  forge: "forge",
  neoforge: "neoforge",
};

/** Throws `bad_request` with the field that is wrong. */
export function readModrinth(text: string): PackSource {
  const index = parseIndex(indexFiles.modrinth, text, indexShape);
  const { minecraft, ...others } = index.dependencies;
  if (minecraft === undefined) throw refuse(`${indexFiles.modrinth}: dependencies.minecraft is missing.`);
  return {
    format: "modrinth",
    name: index.name,
    version: index.versionId,
    ...loaderIn(others),
    minecraft,
    files: index.files.map(
      ({ path, hashes, env, downloads, fileSize: size }): WantedFile => ({
        path,
        size,
        sha512: hashes.sha512,
        ...(hashes.sha1 !== undefined && { sha1: hashes.sha1 }),
        urls: downloads,
        // What a server may have is part of the pack as its author runs it.
        side: env?.server === "unsupported" ? "client" : "server",
      }),
    ),
    overlays: ["overrides", "server-overrides"],
  };
}

function loaderIn(dependencies: Record<string, string>): Pick<PackSource, "loader" | "loader_version"> {
  const [first, ...more] = Object.entries(dependencies);
  if (first === undefined) return { loader: "vanilla" };
  const [name, loader_version] = first;
  const loader = Object.hasOwn(loaders, name) ? loaders[name] : undefined;
  if (more.length > 0 || loader === undefined) {
    const names = Object.keys(dependencies).join(", ").slice(0, 200);
    throw refuse(
      `${indexFiles.modrinth}: dependencies must name minecraft and at most one of ${Object.keys(loaders).join(", ")}, not ${names}.`,
    );
  }
  return { loader, loader_version };
}
