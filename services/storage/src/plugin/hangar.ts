// Hangar (https://hangar.papermc.io/api-docs): version 1 of its API. It has plugins for Paper; a version is known by its name.

import { z } from "zod";
import { type Catalogue, loadersOf, oneLine, type Project, type Version } from "./catalogue.ts";

const Shown = z.object({
  name: z.string(),
  namespace: z.object({ owner: z.string(), slug: z.string() }),
  description: z.string().nullish(),
  stats: z.object({ downloads: z.number() }),
});
const Found = z.object({ pagination: z.object({ count: z.number() }), result: z.array(Shown) });
const Download = z.object({
  fileInfo: z.object({ name: z.string(), sizeBytes: z.number(), sha256Hash: z.string() }).nullish(),
  externalUrl: z.string().nullish(),
  downloadUrl: z.string().nullish(),
});
const Release = z.object({
  createdAt: z.string(),
  name: z.string(),
  description: z.string().nullish(),
  channel: z.object({ name: z.string() }),
  downloads: z.object({ PAPER: Download.optional() }),
  pluginDependencies: z
    .object({
      PAPER: z
        .array(z.object({ name: z.string(), required: z.boolean(), externalUrl: z.string().nullish() }))
        .optional(),
    })
    .nullish(),
  platformDependencies: z.object({ PAPER: z.array(z.string()).optional() }),
});
const Releases = z.object({ result: z.array(Release) });

export const hangar: Catalogue = {
  search: async (ask, { loader, game_version, text, offset }) => {
    if (!loadersOf(loader).includes("paper")) return { projects: [], total: 0 };
    const query = {
      ...(text !== "" && { query: text }),
      ...{ platform: "PAPER", version: game_version, limit: "20", offset: String(offset) },
    };
    const found = await ask("projects", { query, shape: Found });
    const total = Math.max(0, Math.floor(found?.pagination.count ?? 0));
    return { projects: (found?.result ?? []).slice(0, 20).map(toProject), total };
  },
  project: async (ask, id) => {
    const found = await ask(`projects/${encodeURIComponent(id)}`, { shape: Shown });
    return found && toProject(found);
  },
  versions: async (ask, id) => {
    const query = { limit: "25", offset: "0", platform: "PAPER" };
    const found = await ask(`projects/${encodeURIComponent(id)}/versions`, { query, shape: Releases });
    return (found?.result ?? [])
      .map(toVersion)
      .sort((one, other) => (one.published_at < other.published_at ? 1 : -1));
  },
};

function toProject({ name, namespace, description, stats }: z.output<typeof Shown>): Project {
  const { owner, slug } = namespace;
  return {
    ...{ source: "hangar", id: slug, title: oneLine(name, 100), summary: oneLine(description ?? "", 300) },
    ...{ author: oneLine(owner, 100), downloads: Math.max(0, Math.floor(stats.downloads)) },
    page_url: `https://hangar.papermc.io/${encodeURIComponent(owner)}/${encodeURIComponent(slug)}`,
  };
}

function channelOf(name: string): Version["channel"] {
  if (/release/i.test(name)) return "release";
  return /beta|preview/i.test(name) ? "beta" : "alpha";
}

function toVersion(release: z.output<typeof Release>): Version {
  const { fileInfo, downloadUrl } = release.downloads.PAPER ?? {};
  const isProven = fileInfo && downloadUrl && /^[0-9a-f]{64}$/i.test(fileInfo.sha256Hash);
  return {
    ...{ id: release.name, name: oneLine(release.name, 100), channel: channelOf(release.channel.name) },
    ...{ published_at: release.createdAt, changelog: release.description ?? "" },
    game_versions: release.platformDependencies.PAPER ?? [],
    loaders: release.downloads.PAPER ? ["paper"] : [],
    dependencies: (release.pluginDependencies?.PAPER ?? []).map(({ name, required, externalUrl }) => ({
      kind: required ? "required" : "optional",
      ...{ project: externalUrl ? null : name, version: null, title: oneLine(name, 100) },
    })),
    file: isProven
      ? {
          ...{ name: fileInfo.name, size: fileInfo.sizeBytes, url: downloadUrl },
          sha256: fileInfo.sha256Hash.toLowerCase(),
        }
      : null,
  };
}
