// Plugins and mods of a stopped server's world, from public catalogues (docs/reference/plugins.md).
// Vocabulary: catalogue = Modrinth or Hangar; project = what a catalogue offers; version = one release of a project with one
// file; record = what the world itself says was installed; plan = what an installation would change.

import { z } from "zod";
import { operation } from "../contract.ts";
import { ServerNameParam } from "../lifecycle/names.ts";
import { Sha256Hex } from "../text.ts";
import { FileOp, heldFaults, WorldPath, worldFaults } from "./file.ts";
import { PluginLoader, PluginRecord, PluginSource } from "./world-task.ts";

const name = { name: ServerNameParam };
const external = { face: "external", tier: "app" } as const;
const place = "/api/v1/servers/{name}/plugins";
const deadlineMs = 92_000;
const catalogueFaults = [
  "bad_name",
  "not_found",
  "catalogue_disabled",
  "catalogue_unavailable",
  "catalogue_rate_limited",
] as const;

const GameVersion = z.string().regex(/^[0-9A-Za-z._-]{1,32}$/);
const ProjectId = z.string().regex(/^[0-9A-Za-z._-]{1,64}$/);
const VersionId = z.string().regex(/^[0-9A-Za-z._+-]{1,100}$/);
/** What the server runs. */
const target = { loader: PluginLoader, game_version: GameVersion };

/** A file in `plugins` or `mods`, or one that is recorded and gone. */
export const PluginFile = z.strictObject({
  path: z.string(),
  /** Null when it is gone. */
  sha256: Sha256Hex.nullable(),
  size: z.number().int().min(0),
  /** `by_hand`: nothing is recorded of it. */
  state: z.enum(["as_installed", "changed", "missing", "by_hand"]),
  record: PluginRecord.optional(),
});
export type PluginFile = z.output<typeof PluginFile>;

const Installed = z.strictObject({
  files: z.array(PluginFile).max(600),
  /** True when the folders hold more than is listed. */
  truncated: z.boolean(),
  /** What was chosen for the last installation, else what the files of the world say. */
  loader: PluginLoader.nullable(),
  game_version: z.string().nullable(),
  /** Catalogues that can be asked here. */
  catalogues: z.array(PluginSource),
});

export const list = operation({
  subject: "storage.plugin.list",
  http: { method: "GET", path: place, ...external, rights: ["files.read"] },
  params: name,
  output: Installed,
  faults: [...worldFaults, "files_timeout"],
  deadlineMs,
  summary:
    "Plugins and mods of a stopped server: recorded ones with what became of them, and those put there by hand.",
  spec: "docs/reference/plugins.md#installed",
});

/** A project that a search found. */
export const PluginProject = z.strictObject({
  source: PluginSource,
  id: z.string(),
  title: z.string(),
  summary: z.string(),
  author: z.string(),
  downloads: z.number().int().min(0),
  page_url: z.url(),
});
export type PluginProject = z.output<typeof PluginProject>;

export const search = operation({
  subject: "storage.plugin.search",
  http: { method: "GET", path: `${place}/search`, ...external, rights: ["files.read"] },
  params: name,
  query: {
    source: PluginSource,
    ...target,
    text: z.string().max(100).default(""),
    offset: z.coerce.number().int().min(0).max(1_000).default(0),
  },
  output: z.strictObject({ projects: z.array(PluginProject).max(20), total: z.number().int().min(0) }),
  faults: catalogueFaults,
  deadlineMs: 30_000,
  summary:
    "Projects of a catalogue for a loader and a version of the game, the most fitting first, 20 at a time.",
  spec: "docs/reference/plugins.md#catalogues",
});

/** A version as people choose it. */
export const PluginVersion = z.strictObject({
  id: z.string(),
  name: z.string(),
  channel: z.enum(["release", "beta", "alpha"]),
  published_at: z.string(),
  game_versions: z.array(z.string()).max(300),
  loaders: z.array(z.string()).max(50),
  /** Null: it can be installed here. */
  why_not: z.enum(["loader", "game_version", "no_file"]).nullable(),
  size: z.number().int().min(0),
  /** At most 4,000 characters of Markdown. */
  changelog: z.string(),
});
export type PluginVersion = z.output<typeof PluginVersion>;

export const versions = operation({
  subject: "storage.plugin.versions",
  http: { method: "GET", path: `${place}/versions`, ...external, rights: ["files.read"] },
  params: name,
  query: { source: PluginSource, project: ProjectId, ...target },
  output: z.strictObject({ project: PluginProject, versions: z.array(PluginVersion).max(25) }),
  faults: [...catalogueFaults, "plugin_not_found"],
  deadlineMs: 30_000,
  summary: "The newest 25 versions of a project with their changelogs, and why one cannot be installed.",
  spec: "docs/reference/plugins.md#catalogues",
});

export const updates = operation({
  subject: "storage.plugin.updates",
  http: { method: "GET", path: `${place}/updates`, ...external, rights: ["files.read"] },
  params: name,
  query: target,
  output: z.strictObject({
    updates: z
      .array(
        z.strictObject({
          path: z.string(),
          source: PluginSource,
          project: z.string(),
          version: PluginVersion,
        }),
      )
      .max(300),
    /** Recorded files of which the catalogue knows nothing any more. */
    unknown: z.array(z.string()).max(300),
  }),
  faults: [...worldFaults, ...catalogueFaults, "files_timeout"],
  deadlineMs,
  summary: "For each recorded plugin the newest version that fits and is newer than the installed one.",
  spec: "docs/reference/plugins.md#updates",
});

/** One file that an installation adds or replaces. */
export const PlanItem = z.strictObject({
  source: PluginSource,
  project: z.string(),
  title: z.string(),
  version: z.string(),
  version_name: z.string(),
  /** `dependency`: another one needs it. */
  reason: z.enum(["chosen", "dependency"]),
  path: z.string(),
  size: z.number().int().min(0),
  /** The host that it comes from. */
  host: z.string(),
  /** What it must have, in hex. */
  hash: z.string(),
  /** The file that goes. */
  replaces: z.strictObject({ path: z.string(), sha256: Sha256Hex, is_changed: z.boolean() }).nullable(),
});
export type PlanItem = z.output<typeof PlanItem>;

export const PlanProblem = z.strictObject({
  code: z.enum([
    "loader",
    "game_version",
    "no_file",
    "no_version",
    "already_installed",
    "in_the_way",
    "changed",
    "conflicts",
    "dependency_elsewhere",
    "too_many",
  ]),
  /** Title of a project, or a path. */
  about: z.string(),
  /** `no`: nothing is installed; `ask`: with `replace_changed`; `yes`: it is only said. */
  goes_on: z.enum(["no", "ask", "yes"]),
});
export type PlanProblem = z.output<typeof PlanProblem>;

const Choice = { source: PluginSource, project: ProjectId, version: VersionId.optional(), ...target };

export const plan = operation({
  subject: "storage.plugin.plan",
  http: { method: "POST", path: `${place}/plan`, ...external, rights: ["files.read", "files.write"] },
  params: name,
  body: Choice,
  output: z.strictObject({
    items: z.array(PlanItem).max(30),
    problems: z.array(PlanProblem).max(100),
    /** Of all of it: what is installed is what was shown. */
    digest: Sha256Hex,
  }),
  faults: [...worldFaults, ...catalogueFaults, "files_timeout", "plugin_not_found"],
  idempotent: true,
  deadlineMs,
  summary:
    "What an installation or update would add and replace, with dependencies and what speaks against it.",
  spec: "docs/reference/plugins.md#plan",
});

export const install = operation({
  subject: "storage.plugin.install",
  http: {
    method: "POST",
    path: `${place}/install`,
    ...external,
    status: 202,
    rights: ["files.read", "files.write"],
  },
  params: name,
  body: {
    ...Choice,
    plan: Sha256Hex.meta({ description: "Digest of the plan that was shown" }),
    replace_changed: z.boolean().optional(),
  },
  output: z.strictObject({ op: FileOp }),
  faults: [
    ...worldFaults,
    ...catalogueFaults,
    "files_timeout",
    "plugin_not_found",
    "plan_changed",
    "plan_refused",
    "too_many_uploads",
    "upload_staging_full",
  ],
  deadlineMs,
  summary:
    "Installs what the plan says in the background, all or nothing; the server loads it when it starts.",
  spec: "docs/reference/plugins.md#install",
});

export const remove = operation({
  subject: "storage.plugin.remove",
  http: { method: "POST", path: `${place}/remove`, ...external, rights: ["files.write"] },
  params: name,
  body: {
    path: WorldPath.min(1),
    expect_sha256: Sha256Hex.optional().meta({
      description: "The file as it was listed; absent for one that is gone",
    }),
  },
  output: z.strictObject({ path: z.string(), status: z.literal("removed") }),
  faults: [...heldFaults, "files_timeout", "volume_full", "file_changed"],
  deadlineMs,
  summary: "Removes a plugin and what is recorded of it; its folder of settings stays.",
  spec: "docs/reference/plugins.md#remove",
});
