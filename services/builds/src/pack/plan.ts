// From a pack to what is reviewed and built: its Dockerfile, its downloads and the files that it brings
// (docs/reference/submissions.md#packs). Pure: the same zip and settings give the same plan.

import { Fault, packs } from "@svc/proto";
import { contextLimits, createContextRules, isWorldFault } from "@svc/world";
import type { Settings } from "../config.ts";
import { chooseBase } from "./base.ts";
import { readCurseForge } from "./curseforge.ts";
import { readModrinth } from "./modrinth.ts";
import { refuse, type WantedFile } from "./source.ts";
import { renderTemplate } from "./template.ts";

/** A file of the zip. */
type PackedFile = { path: string; size: number };

export type GivenPack = {
  format: packs.PackFormat;
  /** Text of its index. */
  index: string;
  /** All files of the zip. */
  packed: readonly PackedFile[];
  sourceSha256: string;
};

type PlannedPack = {
  plan: packs.PackPlan;
  dockerfile: string;
  /** Files of the zip by their place in the context, sorted. */
  files: { path: string; from: string }[];
};

type Rules = Pick<Settings, "registry" | "builds">;

const readers = { modrinth: readModrinth, curseforge: readCurseForge };
const { server } = packs.packFiles;

/** Throws `bad_request`, which names what is wrong. */
export function planPack(given: GivenPack, rules: Rules): PlannedPack {
  const source = readers[given.format](given.index);
  const { builds, registry } = rules;
  const base = chooseBase(builds.pack_bases, source, registry.url);
  const overlay = overlayOf(source.overlays, given.packed);
  const { downloads, left_out } = sortFiles(source.files, overlay, builds.pack_hosts);
  assertSizes({ downloads, overlay }, builds);
  const placed = placeAll(overlay, downloads, builds.context_entries);
  if (placed.files.length + downloads.length === 0)
    throw refuse(
      `The pack has no file for a server, neither in ${source.overlays.join("/, ")}/ nor to download.`,
    );
  const { format, name, version, loader, loader_version, minecraft } = source;
  const plan: packs.PackPlan = {
    ...{ format, name, version, loader, minecraft },
    ...(loader_version !== undefined && { loader_version }),
    source_sha256: given.sourceSha256,
    base_image: base,
    downloads: placed.downloads,
    left_out,
  };
  const values = { base, loader, loader_version: loader_version ?? "", minecraft };
  return { plan, dockerfile: renderTemplate(builds.pack_template, values), files: placed.files };
}

/** Files that are laid over the server, by their path there; a later folder replaces what an earlier one has. */
function overlayOf(folders: readonly string[], packed: readonly PackedFile[]): Map<string, PackedFile> {
  const overlay = new Map<string, PackedFile>();
  for (const folder of folders)
    for (const file of packed)
      if (file.path.startsWith(`${folder}/`)) overlay.set(file.path.slice(folder.length + 1), file);
  return overlay;
}

function sortFiles(
  files: readonly WantedFile[],
  overlay: ReadonlyMap<string, unknown>,
  hosts: readonly string[],
) {
  const downloads: packs.PackDownload[] = [];
  const left_out: packs.PackLeftOut[] = [];
  for (const { side, ...file } of files) {
    const path = pathOf(file.path);
    if (side !== "server") left_out.push({ path, reason: side });
    else if (overlay.has(path)) left_out.push({ path, reason: "replaced" });
    else downloads.push({ ...file, path, urls: allowedUrls(path, file.urls, hosts) });
  }
  return { downloads, left_out };
}

/** Relative, with forward slashes, without dots. The rest is judged with the place that it gets. */
function pathOf(given: string): string {
  const shown = JSON.stringify(given.slice(0, 200));
  if (/^[/\\]|^[A-Za-z]:|\\/.test(given))
    throw refuse(`The file ${shown} of the pack must have a relative path with forward slashes.`);
  const names = given.split("/").filter((name) => name !== "" && name !== ".");
  if (names.length === 0 || given.endsWith("/")) throw refuse(`The file ${shown} of the pack has no name.`);
  if (names.some((name) => name.startsWith(".svc-")))
    throw refuse(`The file ${shown} of the pack has a name that belongs to the platform.`);
  return names.join("/");
}

const mostUrls = 8;
const mostUrlChars = 2_048;

/** Those addresses that the operator allows. Throws `bad_request` when there is none. */
function allowedUrls(path: string, urls: readonly string[], hosts: readonly string[]): string[] {
  const parsed = urls.flatMap((url) => (url.length <= mostUrlChars && URL.canParse(url) ? new URL(url) : []));
  const allowed = parsed.filter(
    ({ protocol, host, username, password }) =>
      protocol === "https:" && hosts.includes(host) && username === "" && password === "",
  );
  if (allowed.length > 0) return [...new Set(allowed.map(({ href }) => href))].slice(0, mostUrls);
  const given = [...new Set(parsed.map(({ protocol, host }) => `${protocol}//${host}`))].slice(0, 3);
  throw refuse(
    `The file ${JSON.stringify(path)} comes from ${given.join(", ").slice(0, 300) || "no address"}; builds download with https from ${hosts.join(", ")} alone (builds.pack_hosts). Put it into overrides/ of the pack.`,
  );
}

type Sized = { downloads: readonly packs.PackDownload[]; overlay: ReadonlyMap<string, PackedFile> };

function assertSizes({ downloads, overlay }: Sized, builds: Settings["builds"]): void {
  const { pack_downloads: mostFiles, pack_download_bytes: mostBytes, context_bytes: mostAll } = builds;
  if (downloads.length > mostFiles)
    throw refuse(`The pack downloads ${downloads.length} files; at most ${mostFiles} are allowed.`);
  const bytes = downloads.reduce((sum, { size }) => sum + size, 0);
  if (bytes > mostBytes) throw refuse(`The pack downloads ${bytes} bytes; at most ${mostBytes} are allowed.`);
  const brought = [...overlay.values()].reduce((sum, { size }) => sum + size, 0);
  if (bytes + brought > mostAll)
    throw refuse(`The pack has ${bytes + brought} bytes unpacked; at most ${mostAll} are allowed.`);
}

/** Gives all files their places in the context, by the same rules as entries of an uploaded archive. */
function placeAll(
  overlay: ReadonlyMap<string, PackedFile>,
  downloads: readonly packs.PackDownload[],
  mostEntries: number,
) {
  const { accept } = createContextRules({ ...contextLimits, entries: mostEntries });
  const place = (path: string): string => {
    try {
      return accept({ path: `${server}/${path}`, type: "0", mode: 0o644, mtimeMs: 0, size: 0 })?.path ?? "";
    } catch (error) {
      throw isWorldFault(error) ? new Fault("bad_request", { message: error.message, cause: error }) : error;
    }
  };
  const files = [...overlay].map(([path, { path: from }]) => ({ path: place(path), from }));
  files.sort((one, other) => (one.path < other.path ? -1 : 1));
  const placed = downloads.map((file) => ({ ...file, path: place(file.path).slice(server.length + 1) }));
  return { files, downloads: placed.sort((one, other) => (one.path < other.path ? -1 : 1)) };
}
