// Modrinth (https://docs.modrinth.com/api): version 2 of its API.

import { z } from "zod";
import {
  type Catalogue,
  type Dependency,
  loadersOf,
  oneLine,
  type Project,
  type Version,
} from "./catalogue.ts";

const Hit = z.object({
  project_id: z.string(),
  slug: z.string().nullish(),
  title: z.string(),
  description: z.string(),
  author: z.string(),
  downloads: z.number(),
  project_type: z.string(),
});
const Found = z.object({ hits: z.array(Hit), total_hits: z.number() });
const Shown = z.object({
  id: z.string(),
  slug: z.string(),
  title: z.string(),
  description: z.string(),
  downloads: z.number(),
  project_type: z.string(),
});
const File = z.object({
  hashes: z.object({ sha512: z.string().optional() }),
  url: z.string(),
  filename: z.string(),
  primary: z.boolean(),
  size: z.number(),
});
const Release = z.object({
  id: z.string(),
  version_number: z.string(),
  changelog: z.string().nullish(),
  dependencies: z.array(
    z.object({
      version_id: z.string().nullish(),
      project_id: z.string().nullish(),
      file_name: z.string().nullish(),
      dependency_type: z.string(),
    }),
  ),
  game_versions: z.array(z.string()),
  version_type: z.enum(["release", "beta", "alpha"]).catch("alpha"),
  loaders: z.array(z.string()),
  date_published: z.string(),
  files: z.array(File),
});

const pageOf = (type: string, slug: string) =>
  `https://modrinth.com/${encodeURIComponent(type)}/${encodeURIComponent(slug)}`;

export const modrinth: Catalogue = {
  search: async (ask, { loader, game_version, text, offset }) => {
    const facets = [
      loadersOf(loader).map((one) => `categories:${one}`),
      [`versions:${game_version}`],
      ["server_side:required", "server_side:optional", "server_side:unknown"],
    ];
    const query = { query: text, facets: JSON.stringify(facets), limit: "20", offset: String(offset) };
    const found = await ask("search", { query, shape: Found });
    return {
      projects: (found?.hits ?? []).slice(0, 20).map(({ project_id: id, slug, ...hit }) => ({
        ...{ source: "modrinth" as const, id, downloads: Math.max(0, Math.floor(hit.downloads)) },
        ...{ title: oneLine(hit.title, 100), summary: oneLine(hit.description, 300) },
        ...{ author: oneLine(hit.author, 100), page_url: pageOf(hit.project_type, slug ?? id) },
      })),
      total: Math.max(0, Math.floor(found?.total_hits ?? 0)),
    };
  },
  project: async (ask, wanted) => {
    const found = await ask(`project/${encodeURIComponent(wanted)}`, { shape: Shown });
    return found && toProject(found);
  },
  versions: async (ask, id) => {
    const found = await ask(`project/${encodeURIComponent(id)}/version`, { shape: z.array(Release) });
    return (found ?? [])
      .map(toVersion)
      .sort((one, other) => (one.published_at < other.published_at ? 1 : -1));
  },
};

function toProject({
  id,
  slug,
  title,
  description,
  downloads,
  project_type,
}: z.output<typeof Shown>): Project {
  return {
    ...{ source: "modrinth", id, title: oneLine(title, 100), summary: oneLine(description, 300), author: "" },
    ...{ downloads: Math.max(0, Math.floor(downloads)), page_url: pageOf(project_type, slug) },
  };
}

const kinds: Readonly<Record<string, Dependency["kind"]>> = {
  required: "required",
  optional: "optional",
  incompatible: "incompatible",
};

function toVersion(release: z.output<typeof Release>): Version {
  const file = release.files.find(({ primary }) => primary) ?? release.files[0];
  const sha512 = file?.hashes.sha512;
  const isProven = file !== undefined && sha512 !== undefined && /^[0-9a-f]{128}$/.test(sha512);
  return {
    ...{ id: release.id, name: oneLine(release.version_number, 100), channel: release.version_type },
    ...{ published_at: release.date_published, changelog: release.changelog ?? "" },
    ...{ game_versions: release.game_versions, loaders: release.loaders },
    dependencies: release.dependencies.flatMap(({ dependency_type, project_id, version_id, file_name }) => {
      const kind = kinds[dependency_type];
      if (kind === undefined) return [];
      const title = oneLine(file_name ?? project_id ?? "?", 100);
      return [{ kind, project: project_id ?? null, version: version_id ?? null, title }];
    }),
    file: isProven ? { name: file.filename, size: file.size, url: file.url, sha512 } : null,
  };
}
