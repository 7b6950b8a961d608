// What both catalogues are to the rest: projects and versions in one shape.

import type { plugins } from "@svc/proto";
import type { PluginLoader } from "@svc/proto/world-task";
import type { Json } from "./ask.ts";

export type Target = { loader: PluginLoader; game_version: string };

export type Dependency = {
  kind: "required" | "optional" | "incompatible";
  /** Null: the catalogue does not have it. */
  project: string | null;
  /** The version that it must be; null: any. */
  version: string | null;
  title: string;
};

export type Version = {
  id: string;
  name: string;
  channel: "release" | "beta" | "alpha";
  published_at: string;
  game_versions: string[];
  loaders: string[];
  changelog: string;
  dependencies: Dependency[];
  /** Null: it lies elsewhere, or has no digest. */
  file: { name: string; size: number; url: string; sha512?: string; sha256?: string } | null;
};

export type Project = plugins.PluginProject;

export type Catalogue = {
  search: (
    ask: Json,
    about: Target & { text: string; offset: number },
  ) => Promise<{ projects: Project[]; total: number }>;
  /** Undefined when there is none. */
  project: (ask: Json, id: string) => Promise<Project | undefined>;
  /** The newest first. */
  versions: (ask: Json, id: string) => Promise<Version[]>;
};

const runs: Readonly<Record<PluginLoader, readonly string[]>> = {
  paper: ["paper", "spigot", "bukkit"],
  purpur: ["purpur", "paper", "spigot", "bukkit"],
  folia: ["folia"],
  spigot: ["spigot", "bukkit"],
  fabric: ["fabric"],
  quilt: ["quilt", "fabric"],
  forge: ["forge"],
  neoforge: ["neoforge"],
};

/** The loaders whose files a server of this one takes. */
export function loadersOf(loader: PluginLoader): readonly string[] {
  return runs[loader];
}

export function folderOf(loader: PluginLoader): "plugins" | "mods" {
  return ["paper", "purpur", "folia", "spigot"].includes(loader) ? "plugins" : "mods";
}

/** Why a version cannot be installed; null when it can. Pure. */
export function whyNot(version: Version, { loader, game_version }: Target): plugins.PluginVersion["why_not"] {
  if (!version.loaders.some((one) => loadersOf(loader).includes(one))) return "loader";
  if (!version.game_versions.includes(game_version)) return "game_version";
  return version.file === null ? "no_file" : null;
}

const mostShown = 4_000;

/** The only mapping from a version to its public view. */
export function toPluginVersion(version: Version, target: Target): plugins.PluginVersion {
  const { id, name, channel, published_at, file } = version;
  const changelog = version.changelog.replaceAll("\r", "");
  return {
    ...{ id, name, channel, published_at },
    game_versions: version.game_versions.slice(0, 300),
    loaders: version.loaders.slice(0, 50),
    why_not: whyNot(version, target),
    size: file?.size ?? 0,
    changelog: changelog.length > mostShown ? `${changelog.slice(0, mostShown).toWellFormed()}…` : changelog,
  };
}

/** Untrusted text on a single line. */
export function oneLine(text: string, most: number): string {
  return text
    .replace(/[\p{Cc}\p{Bidi_Control}\s]+/gu, " ")
    .trim()
    .slice(0, most)
    .toWellFormed();
}
