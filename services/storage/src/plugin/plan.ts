// What an installation would add and replace (docs/reference/plugins.md#plan). Pure: what is not known yet is named as `missing`, and the
// caller looks it up and decides again.

import type { plugins } from "@svc/proto";
import type { PluginSource } from "@svc/proto/world-task";
import { type Dependency, folderOf, type Project, type Target, type Version, whyNot } from "./catalogue.ts";

export type Known = { project: Project; versions: readonly Version[] } | "none";

type Wanted = { project: string; version?: string | undefined };
type PlanInput = {
  source: PluginSource;
  wanted: Wanted;
  target: Target;
  installed: readonly plugins.PluginFile[];
  /** By the id under which it was looked up. */
  known: ReadonlyMap<string, Known>;
};

export type PlannedItem = plugins.PlanItem & { file: NonNullable<Version["file"]> };
type Problem = plugins.PlanProblem;
type Planned = { missing: string } | { items: PlannedItem[]; problems: Problem[] };

const mostItems = 30;

export function planInstall(input: PlanInput): Planned {
  const { known, wanted } = input;
  const items: PlannedItem[] = [];
  const problems: Problem[] = [];
  const done = new Set<string>();
  const queue: (Wanted & { title: string; isChosen: boolean })[] = [
    { ...wanted, title: wanted.project, isChosen: true },
  ];
  for (let next = queue.shift(); next; next = queue.shift()) {
    const found = known.get(next.project);
    if (found === undefined) return { missing: next.project };
    if (found === "none") {
      problems.push({ code: "no_version", about: next.title, goes_on: "no" });
      continue;
    }
    if (done.has(found.project.id)) continue;
    done.add(found.project.id);
    if (items.length === mostItems) {
      problems.push({ code: "too_many", about: found.project.title, goes_on: "no" });
      break;
    }
    const chosen = choose(found.versions, next, input.target);
    if ("code" in chosen) {
      problems.push({ code: chosen.code, about: found.project.title, goes_on: "no" });
      continue;
    }
    const item = itemOf(input, { project: found.project, version: chosen, isChosen: next.isChosen });
    problems.push(...item.problems);
    if (item.item) items.push(item.item);
    for (const dependency of chosen.dependencies) {
      const follow = judge(dependency, input.installed);
      if (follow === "install" && dependency.project !== null)
        queue.push({
          ...{ project: dependency.project, title: dependency.title, isChosen: false },
          ...(dependency.version !== null && { version: dependency.version }),
        });
      else if (follow !== "install" && follow !== "skip") problems.push(follow);
    }
  }
  problems.push(...findCollisions(items));
  return { items, problems };
}

function choose(
  versions: readonly Version[],
  { version }: Pick<Wanted, "version">,
  target: Target,
): Version | { code: "loader" | "game_version" | "no_file" | "no_version" } {
  if (version !== undefined) {
    const one = versions.find(({ id }) => id === version);
    if (!one) return { code: "no_version" };
    const why = whyNot(one, target);
    return why === null ? one : { code: why };
  }
  const fitting = versions.filter((one) => whyNot(one, target) === null);
  return fitting.find(({ channel }) => channel === "release") ?? fitting[0] ?? { code: "no_version" };
}

function judge(
  { kind, project, title }: Dependency,
  installed: readonly plugins.PluginFile[],
): "install" | "skip" | Problem {
  const there = installed.find(({ record, state }) => record?.project === project && state !== "missing");
  if (kind === "incompatible")
    return there ? { code: "conflicts", about: there.record?.title ?? there.path, goes_on: "no" } : "skip";
  if (kind === "optional" || there) return "skip";
  return project === null ? { code: "dependency_elsewhere", about: title, goes_on: "yes" } : "install";
}

type Chosen = { project: Project; version: Version; isChosen: boolean };

function itemOf(
  { source, target, installed }: PlanInput,
  { project, version, isChosen }: Chosen,
): { item?: PlannedItem; problems: Problem[] } {
  const { file } = version;
  if (file === null) return { problems: [{ code: "no_file", about: project.title, goes_on: "no" }] };
  const path = `${folderOf(target.loader)}/${fileNameOf(file.name, `${project.id}-${version.id}`)}`;
  const before = installed.find(({ record }) => record?.source === source && record.project === project.id);
  if (before?.record?.version === version.id && before.state === "as_installed") {
    const problem: Problem = {
      code: "already_installed",
      about: project.title,
      goes_on: isChosen ? "no" : "yes",
    };
    return { problems: [problem] };
  }
  const inPlace = installed.find((one) => one.path === path && one.sha256 !== null);
  const old = before && before.sha256 !== null ? before : undefined;
  const problems: Problem[] = [];
  if (inPlace && inPlace !== old) problems.push({ code: "in_the_way", about: path, goes_on: "no" });
  if (old?.state === "changed") problems.push({ code: "changed", about: old.path, goes_on: "ask" });
  const { url, ...rest } = file;
  const item: PlannedItem = {
    ...{ source, project: project.id, title: project.title, version: version.id, version_name: version.name },
    ...{ reason: isChosen ? "chosen" : "dependency", path, size: file.size, host: hostIn(url) },
    hash: rest.sha512 ?? rest.sha256 ?? "",
    replaces: old?.sha256
      ? { path: old.path, sha256: old.sha256, is_changed: old.state === "changed" }
      : null,
    file,
  };
  return { item, problems };
}

/** Names of a catalogue are taken only where they are names of files here. */
function fileNameOf(given: string, otherwise: string): string {
  if (/^[A-Za-z0-9_([][^/\\\p{Cc}\p{Bidi_Control}]{0,120}\.jar$/iu.test(given) && given.isWellFormed())
    return given;
  return `${otherwise
    .replace(/[^A-Za-z0-9._-]/g, "_")
    .replace(/^[._-]+/, "")
    .slice(0, 120)}.jar`;
}

function hostIn(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "?";
}

function findCollisions(items: readonly PlannedItem[]): Problem[] {
  const lower = items.map(({ path }) => path.toLowerCase());
  const twice = items.filter(({ path }, index) => lower.indexOf(path.toLowerCase()) !== index);
  return twice.map(({ path }) => ({ code: "in_the_way", about: path, goes_on: "no" }));
}

/** Whether a plan can be carried out. */
export function isPossible(
  { items, problems }: { items: readonly unknown[]; problems: readonly Problem[] },
  replaceChanged: boolean,
): boolean {
  if (items.length === 0) return false;
  return problems.every(({ goes_on }) => goes_on === "yes" || (goes_on === "ask" && replaceChanged));
}
