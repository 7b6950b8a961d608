import { plugins } from "@svc/proto";
import type { PluginLoader, PluginSource } from "@svc/proto/world-task";
import { connectExternal, type External } from "../account/external.ts";
import { awaitOperation } from "../file/await-operation.ts";
import { printable } from "../file/printable.ts";
import { CommandError, type Outcome, planned, sizeText, table } from "../output.ts";

export type PluginOptions = {
  source?: PluginSource;
  loader?: PluginLoader;
  game?: string;
  yes?: boolean;
  replaceChanged?: boolean;
};
type Given = PluginOptions & { data: string };

const states = {
  as_installed: "",
  changed: "changed by hand",
  missing: "missing",
  by_hand: "put there by hand",
} as const;

export async function listPlugins(name: string, { data }: Given): Promise<Outcome> {
  const listed = await connectExternal(data).call(plugins.list, { name });
  const rows = listed.files.map(({ path, size, state, record }) => [
    ...[printable(path), state === "missing" ? "-" : sizeText(size)],
    ...[
      record ? `${printable(record.title)} ${printable(record.version_name)} (${record.source})` : "",
      states[state],
    ],
  ]);
  const runs = `The server runs ${listed.loader ?? "an unknown loader"}, ${listed.game_version ?? "an unknown version"}.`;
  const text = rows.length === 0 ? "There are no plugins and no mods." : table(rows);
  return { json: listed, text: `${text}\n${runs}${listed.truncated ? "\n(more files not shown)" : ""}` };
}

/** What the server runs: as given, else as its world says. */
async function targetOf(external: External, name: string, { loader, game }: Given) {
  if (loader !== undefined && game !== undefined) return { loader, game_version: game };
  const listed = await external.call(plugins.list, { name });
  const [found, version] = [loader ?? listed.loader, game ?? listed.game_version];
  if (found === null || version === null)
    throw new CommandError(`the world does not say what ${name} runs; give --loader and --game`);
  return { loader: found, game_version: version };
}

export async function searchPlugins(name: string, text: string, given: Given): Promise<Outcome> {
  const { source = "modrinth" } = given;
  const external = connectExternal(given.data);
  const target = await targetOf(external, name, given);
  const found = await external.call(plugins.search, { name, source, text, offset: 0, ...target });
  const rows = found.projects.map(({ id, title, downloads, summary }) => [
    ...[id, printable(title), String(downloads), printable(summary).slice(0, 60)],
  ]);
  const more = found.total - found.projects.length;
  const rest = more > 0 ? `\n(${more} more; search for more letters)` : "";
  return { json: found, text: rows.length === 0 ? "Nothing that fits was found." : table(rows) + rest };
}

const reasons = {
  loader: "for another loader",
  game_version: "for another version of the game",
  no_file: "lies elsewhere, or has no digest",
} as const;

export async function listVersions(name: string, project: string, given: Given): Promise<Outcome> {
  const { source = "modrinth" } = given;
  const external = connectExternal(given.data);
  const target = await targetOf(external, name, given);
  const found = await external.call(plugins.versions, { name, source, project, ...target });
  const rows = found.versions.map(({ id, name: shown, channel, published_at, why_not }) => [
    ...[id, printable(shown), channel, published_at.slice(0, 10), why_not === null ? "" : reasons[why_not]],
  ]);
  return { json: found, text: rows.length === 0 ? "There are no versions." : table(rows) };
}

const problems: Readonly<Record<plugins.PlanProblem["code"], string>> = {
  loader: "is for another loader",
  game_version: "is for another version of the game",
  no_file: "lies elsewhere, or has no digest",
  no_version: "has no version that fits",
  already_installed: "is installed already",
  in_the_way: "is in the way; rename or remove it first",
  changed: "was changed by hand; --replace-changed replaces it",
  conflicts: "does not go with it; remove it first",
  dependency_elsewhere: "is needed as well and not in this catalogue",
  too_many: "and more is needed than can be installed at once",
};

export async function installPlugin(
  name: string,
  { project, version }: { project: string; version: string | undefined },
  given: Given,
): Promise<Outcome> {
  const { source = "modrinth", yes = false, replaceChanged = false } = given;
  const external = connectExternal(given.data);
  const target = await targetOf(external, name, given);
  const choice = { name, source, project, ...(version !== undefined && { version }), ...target };
  const plan = await external.call(plugins.plan, choice);
  const lines = [
    ...plan.items.map(
      ({ title, version_name, path, replaces, size, host }) =>
        `${replaces ? `Replace ${replaces.path} by` : "Add"} ${path}: ${title} ${version_name}, ${sizeText(size)} from ${host}`,
    ),
    ...plan.problems.map(({ code, about }) => `${about} ${problems[code]}.`),
  ].map(printable);
  if (!yes) return planned(plan, ["Plan:", ...lines].join("\n"));
  const { op } = await external
    .call(plugins.install, { ...choice, plan: plan.digest, replace_changed: replaceChanged })
    .catch((error: Error) => {
      throw new CommandError([error.message, ...lines].join("\n"));
    });
  const ended = await awaitOperation(external, name, op.id);
  return { json: ended, text: [...lines, "Installed. The server loads it when it starts."].join("\n") };
}

export async function listUpdates(name: string, given: Given): Promise<Outcome> {
  const external = connectExternal(given.data);
  const target = await targetOf(external, name, given);
  const found = await external.call(plugins.updates, { name, ...target });
  const lines = found.updates.flatMap(({ path, source, project, version }) => [
    `${path}: ${version.name} (svc plugin install ${name} ${project} ${version.id} --source ${source})`,
    ...version.changelog
      .split("\n")
      .slice(0, 10)
      .map((line) => `    ${line}`),
  ]);
  const unknown = found.unknown.map((path) => `${path}: its version is no longer in the catalogue`);
  const text = [...lines, ...unknown].map(printable).join("\n");
  return { json: found, text: text || "All of it is up to date." };
}

export async function removePlugin(name: string, path: string, { data, yes }: Given): Promise<Outcome> {
  const external = connectExternal(data);
  const { files } = await external.call(plugins.list, { name });
  const file = files.find((one) => one.path === path);
  if (!file) throw new CommandError(`${path} is no plugin of ${name}; svc plugin list ${name} lists them`);
  if (!yes) return planned({ name, path }, `Plan: remove ${path}; its folder of settings stays.`);
  const about = { name, path, ...(file.sha256 !== null && { expect_sha256: file.sha256 }) };
  const answer = await external.call(plugins.remove, about);
  return { json: answer, text: `Removed ${path}.` };
}
