// The operations on plugins (docs/reference/plugins.md).

import { createHash } from "node:crypto";
import { auditActor, type Context, type Handler, type Mesh } from "@svc/mesh";
import { type AnyContract, plugins as contracts, Fault } from "@svc/proto";
import type { PluginRecord, PluginSource } from "@svc/proto/world-task";
import { mayAccess } from "../access.ts";
import { startDownload } from "../download/lane.ts";
import { assertTransfersEnabled, openWorld } from "../file/open-world.ts";
import { readTarget } from "../file/path.ts";
import { runOnWorld } from "../file/run-on-world.ts";
import { jobUrl } from "../internal-url.ts";
import type { UploadDeps } from "../upload/deps.ts";
import type { StoredUpload } from "../upload/session.ts";
import { type Asking, createAsking } from "./ask.ts";
import { type Catalogue, folderOf, type Target, toPluginVersion, whyNot } from "./catalogue.ts";
import { hangar } from "./hangar.ts";
import { describeInstalled, type Listed } from "./installed.ts";
import { modrinth } from "./modrinth.ts";
import { isPossible, type Known, type PlannedItem, planInstall } from "./plan.ts";

const catalogues: Readonly<Record<PluginSource, Catalogue>> = { modrinth, hangar };
const sources = ["modrinth", "hangar"] as const;
/** Versions that are shown of a project. */
const mostVersions = 25;

type Deps = UploadDeps & { asking: Asking };
type Requester = Pick<Context<AnyContract>, "principal" | "client" | "requestId"> & { signal?: AbortSignal };
type Access = { server: string; to: Pick<AnyContract, "http">; writes?: readonly string[] };

export function servePlugins(mesh: Pick<Mesh, "serve">, uploads: UploadDeps): void {
  const deps: Deps = { ...uploads, asking: createAsking(uploads) };
  mesh.serve(contracts.list, list(deps));
  mesh.serve(contracts.search, search(deps));
  mesh.serve(contracts.versions, versions(deps));
  mesh.serve(contracts.updates, updates(deps));
  mesh.serve(contracts.plan, plan(deps));
  mesh.serve(contracts.install, install(deps));
  mesh.serve(contracts.remove, remove(deps));
}

function accountOf({ principal }: Pick<Requester, "principal">): string {
  return principal.kind === "account" ? principal.user_id : principal.kind;
}

/** Reads the world; shows a member what lies within its paths. */
async function read(deps: Deps, context: Requester, { server, to, writes = [] }: Access) {
  const { principal } = context;
  const wanted = { to, reads: [], writes: [...writes] };
  const world = await openWorld(deps, { principal, server, ...wanted });
  const task = { mode: "plugins" } as const;
  const done = await runOnWorld(deps, { ...context, server, ...wanted, task });
  const listed: Listed = done.plugins ?? {
    records: { loader: null, game_version: null, plugins: [] },
    ...{ files: [], loader: null, game_version: null },
  };
  const files = describeInstalled(listed).filter(({ path }) =>
    mayAccess(principal, world, { to, reads: [path] }),
  );
  return { listed, files, truncated: done.truncated ?? false };
}

const list =
  (deps: Deps): Handler<typeof contracts.list> =>
  async (context, { name: server }) => {
    const { listed, files, truncated } = await read(deps, context, { server, to: contracts.list });
    const { records } = listed;
    return {
      ...{ files, truncated, loader: records.loader ?? listed.loader },
      game_version: listed.game_version ?? records.game_version,
      catalogues: sources.filter((source) => deps.settings.storage[`${source}_url`] !== ""),
    };
  };

const search =
  (deps: Deps): Handler<typeof contracts.search> =>
  async (context, { name: server, source, ...about }) => {
    await openWorld(deps, { ...context, server, to: contracts.search, reads: [] });
    return catalogues[source].search(deps.asking(source, accountOf(context), context.signal), about);
  };

const versions =
  (deps: Deps): Handler<typeof contracts.versions> =>
  async (context, { name: server, source, project: id, ...target }) => {
    await openWorld(deps, { ...context, server, to: contracts.versions, reads: [] });
    const found = await lookUp(deps, context, { source, id });
    if (found === "none") throw context.fault("plugin_not_found");
    const shown = found.versions.slice(0, mostVersions).map((one) => toPluginVersion(one, target));
    return { project: found.project, versions: shown };
  };

async function lookUp(
  deps: Deps,
  context: Requester,
  { source, id }: { source: PluginSource; id: string },
): Promise<Known> {
  const ask = deps.asking(source, accountOf(context), context.signal);
  const project = await catalogues[source].project(ask, id);
  return project ? { project, versions: await catalogues[source].versions(ask, id) } : "none";
}

const updates =
  (deps: Deps): Handler<typeof contracts.updates> =>
  async (context, { name: server, ...target }) => {
    const { files } = await read(deps, context, { server, to: contracts.updates });
    const found: { path: string; source: PluginSource; project: string; version: contracts.PluginVersion }[] =
      [];
    const unknown: string[] = [];
    for (const { path, record } of files) {
      if (!record || deps.settings.storage[`${record.source}_url`] === "") continue;
      const known = await lookUp(deps, context, { source: record.source, id: record.project });
      const newer = known === "none" ? undefined : findNewer(known, record, target);
      if (newer === undefined) unknown.push(path);
      else if (newer !== "none")
        found.push({
          path,
          source: record.source,
          project: record.project,
          version: toPluginVersion(newer, target),
        });
    }
    return { updates: found, unknown };
  };

/** Undefined when the installed version is not among those of the catalogue. */
function findNewer({ versions }: Exclude<Known, "none">, record: PluginRecord, target: Target) {
  const now = versions.find(({ id }) => id === record.version);
  if (!now) return undefined;
  const isWanted = (channel: string) => channel === "release" || channel === now.channel;
  return (
    versions.find(
      (one) => one.published_at > now.published_at && isWanted(one.channel) && whyNot(one, target) === null,
    ) ?? "none"
  );
}

type Choice = Target & { source: PluginSource; project: string; version?: string | undefined };

async function makePlan(deps: Deps, context: Requester, choice: Choice & Access) {
  const { source, project, version, loader, game_version, server, to } = choice;
  const { files: installed } = await read(deps, context, { server, to, writes: [folderOf(loader)] });
  const known = new Map<string, Known>();
  for (;;) {
    const target = { loader, game_version };
    const planned = planInstall({ source, wanted: { project, version }, target, installed, known });
    if ("missing" in planned) {
      const found = await lookUp(deps, context, { source, id: planned.missing });
      if (found === "none" && known.size === 0) throw new Fault("plugin_not_found");
      known.set(planned.missing, found);
      continue;
    }
    const items = planned.items.map(({ file: _file, ...item }) => item);
    const text = JSON.stringify([items, planned.problems]);
    const digest = createHash("sha256").update(text).digest("hex");
    return { planned, shown: { items, problems: planned.problems.slice(0, 100), digest } };
  }
}

const plan =
  (deps: Deps): Handler<typeof contracts.plan> =>
  async (context, { name: server, ...choice }) => {
    const { shown } = await makePlan(deps, context, { ...choice, server, to: contracts.plan });
    return shown;
  };

const install =
  (deps: Deps): Handler<typeof contracts.install> =>
  async (context, { name: server, plan: expected, replace_changed = false, ...choice }) => {
    const { principal } = context;
    assertTransfersEnabled(deps);
    const made = await makePlan(deps, context, { ...choice, server, to: contracts.install });
    if (principal.kind !== "account") throw context.fault("forbidden");
    if (made.shown.digest !== expected) throw context.fault("plan_changed");
    const { planned } = made;
    if (!isPossible(planned, replace_changed)) throw context.fault("plan_refused");
    const { plugin_hosts, plugin_bytes: mostBytes } = deps.settings.storage;
    const { loader, game_version, source } = choice;
    const folder = folderOf(loader);
    const op = await startDownload(deps, {
      ...{ context, server, user_id: principal.user_id, sources: plugin_hosts },
      wanted: { to: contracts.install, writes: [folder] },
      op: { op: "upload", path: folder, from: source, started_by: auditActor(context).actor },
      change: {
        ...{ action: "plugin.install", path: folder },
        payload: { source, plugins: planned.items.map((item) => `${item.project} ${item.version}`) },
      },
      files: planned.items.map(({ file: { url, size, sha512, sha256 } }) => ({
        ...{ url, size, mostBytes, sha512, sha256 },
      })),
      jobOf: (upload, token) =>
        installTask(deps, { upload, token, items: planned.items, loader, game_version }),
    });
    return { op };
  };

type Staged = Target & { upload: StoredUpload; token: string; items: readonly PlannedItem[] };

function installTask(deps: Deps, { upload, token, items, loader, game_version }: Staged) {
  const installed_at = new Date(deps.now()).toISOString();
  const put = items.map((item, index) => {
    const { path, source, project, title, version, version_name, replaces } = item;
    const sha256 = upload.parts[index]?.sha256 ?? "";
    const record = { path, sha256, source, project, title, version, version_name, installed_at };
    return { record, expect: replaces?.path === path ? replaces.sha256 : null };
  });
  const drop = items.flatMap(({ path, replaces }) =>
    replaces && replaces.path !== path ? [{ path: replaces.path, expect: replaces.sha256 }] : [],
  );
  const url = jobUrl(deps.settings.storage.internal_url, `file-uploads/${upload.id}`);
  const parts = upload.parts.map(({ size, sha256 }) => ({ size, sha256 }));
  return {
    task: { mode: "install" as const, url, put, drop, loader, game_version },
    secret: { token, parts },
  };
}

const remove =
  (deps: Deps): Handler<typeof contracts.remove> =>
  async (context, { name: server, path: given, expect_sha256 }) => {
    const path = readTarget(given);
    if (!/^(?:plugins|mods)\/[^/]+$/.test(path))
      throw context.fault("bad_path", { message: "Name a file in plugins or mods, as the list does." });
    const task = { mode: "install" as const, put: [], drop: [{ path, expect: expect_sha256 ?? null }] };
    const change = { action: "plugin.remove", path };
    await runOnWorld(deps, { ...context, server, to: contracts.remove, writes: [path], task, change });
    return { path, status: "removed" as const };
  };
