// Templates of servers (docs/reference/server-templates.md).

import { readFile } from "node:fs/promises";
import { serverTemplates as contracts } from "@svc/proto";
import { parse } from "yaml";
import { connectExternal, type External } from "../account/external.ts";
import { isCode } from "../account/refusal.ts";
import { CommandError, fields, type Outcome, planned, table } from "../output.ts";
import { type SettingOptions, settingsOfFile, settingsText, withOptions } from "./settings.ts";

export type At = { data: string };
export type SaveOptions = At &
  SettingOptions & { title?: string; description?: string; offer?: boolean; from?: string; file?: string };

/** All templates for operators, else those that the account may use. */
export async function list({ data }: At): Promise<Outcome> {
  const external = connectExternal(data);
  if (external.panelHost === "panel") return listOffered(external);
  const found = await external.call(contracts.list, {});
  const head = ["NAME", "TITLE", "FOR", "SETS", "PROBLEM"];
  const rows = found.templates.map(({ name, title, offered, settings, problem }) => [
    ...[name, title, offered ? "accounts" : "staff", settingsText(settings), problem ?? "-"],
  ]);
  const none = "There are no templates yet. Make one with: svc template save NAME --from SERVER";
  return { json: found, text: rows.length === 0 ? none : table([head, ...rows]) };
}

async function listOffered(external: External): Promise<Outcome> {
  const found = await external.call(contracts.listOffered, {});
  const head = ["NAME", "TITLE", "MEMORY", "DISK", "IMAGE", "PROBLEM"];
  const rows = found.templates.map(({ name, title, memory, storage, image, problem, detail }) => [
    ...[name, title, memory, storage, image ?? "-", detail ?? problem ?? "-"],
  ]);
  if (rows.length === 0) return { json: found, text: "No templates are offered." };
  const left = found.left === 1 ? "1 more server" : `${found.left} more servers`;
  return { json: found, text: `${table([head, ...rows])}\nYou can make ${left}.` };
}

export async function show(name: string, { data }: At): Promise<Outcome> {
  const external = connectExternal(data);
  if (external.panelHost === "panel") return showOffered(external, name);
  const template = await external.call(contracts.read, { name });
  const { settings, ...about } = template;
  return { json: template, text: fields({ ...about, ...settings }) };
}

async function showOffered(external: External, name: string): Promise<Outcome> {
  const { templates } = await external.call(contracts.listOffered, {});
  const found = templates.find((one) => one.name === name);
  if (!found) throw new CommandError(`no template ${name} is offered; list them with: \`svc template list\``);
  return { json: found, text: fields(found) };
}

/** Makes a template, or changes the one that is there; what is not given stays. */
export async function save(name: string, options: SaveOptions): Promise<Outcome> {
  const { title, description, offer, from, file } = options;
  if (from !== undefined && file !== undefined) throw new CommandError("give --from or --file, not both");
  const external = connectExternal(options.data);
  const given = file === undefined ? undefined : settingsOfFile(file, await readSettings(file));
  const before = await find(external, name);
  const drafted = from === undefined ? undefined : await external.call(contracts.draft, { name: from });
  const settings = withOptions(given ?? drafted?.settings ?? before?.settings ?? {}, options);
  const saved = await external.call(contracts.save, {
    name,
    title: title ?? before?.title ?? "",
    description: description ?? before?.description ?? "",
    offered: offer ?? before?.offered ?? false,
    settings,
    revision: before?.revision ?? 0,
  });
  const left =
    drafted && drafted.left_out.length > 0 ? ` Without ${drafted.left_out.join(", ")} of ${from}.` : "";
  const who = saved.offered ? "accounts may use it" : "for staff alone; --offer lets accounts use it";
  return { json: saved, text: `Saved ${name}: ${settingsText(saved.settings)}; ${who}.${left}` };
}

async function readSettings(file: string): Promise<unknown> {
  try {
    return parse(await readFile(file, "utf8"));
  } catch (error) {
    throw new CommandError(`${file}: ${(error as Error).message}`);
  }
}

async function find(external: External, name: string): Promise<contracts.ServerTemplate | undefined> {
  try {
    return await external.call(contracts.read, { name });
  } catch (error) {
    if (isCode(error, "template_not_found")) return undefined;
    throw error;
  }
}

export async function remove(name: string, { yes = false, data }: At & { yes?: boolean }): Promise<Outcome> {
  const external = connectExternal(data);
  const { title } = await external.call(contracts.read, { name });
  if (!yes)
    return planned({ name }, `Would delete the template ${name} (${title}); servers made of it stay.`);
  await external.call(contracts.remove, { name });
  return { json: { name }, text: `The template ${name} is deleted.` };
}
