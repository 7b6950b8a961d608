// Templates of servers (docs/reference/server-templates.md).

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { serverTemplates as contracts } from "@svc/proto";
import { parse } from "yaml";
import { connectExternal, type External } from "../account/external.ts";
import { isCode } from "../account/refusal.ts";
import { callerDir } from "../config.ts";
import { withHints } from "../hint.ts";
import { CommandError, fields, type Outcome, planned, UsageError } from "../output.ts";
import { type SettingOptions, settingsOfFile, withOptions } from "./settings.ts";
import { offeredText, savedText, templatesText } from "./text.ts";

export type At = { data: string };
export type SaveOptions = At &
  SettingOptions & { title?: string; description?: string; offer?: boolean; from?: string; file?: string };

/** All templates for operators, else those that the account may use. */
export async function list({ data }: At): Promise<Outcome> {
  const external = connectExternal(data);
  if (external.panelHost === "panel") {
    const found = await external.call(contracts.listOffered, {});
    return { json: found, text: offeredText(found) };
  }
  const found = await external.call(contracts.list, {});
  return { json: found, text: withHints(data, templatesText(found.templates)) };
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
  if (from !== undefined && file !== undefined) throw new UsageError("give --from or --file, not both");
  const given = file === undefined ? undefined : settingsOfFile(file, await readSettings(file));
  const external = connectExternal(options.data);
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
  const leftOut = drafted === undefined ? [] : drafted.left_out;
  return { json: saved, text: savedText(saved, { leftOut, from }) };
}

async function readSettings(file: string): Promise<unknown> {
  try {
    return parse(await readFile(resolve(callerDir, file), "utf8"));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandError(code === "ENOENT" ? `${file} not found` : `${file}: ${message}`);
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
