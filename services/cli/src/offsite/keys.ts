// `svc offsite …` on keys (docs/reference/off-site.md#keys).

import { resolve } from "node:path";
import { text as readText } from "node:stream/consumers";
import { findMigrateEnv } from "@svc/local-stack";
import { callerDir, environment } from "../config.ts";
import { askWatchdog } from "../database/watchdog.ts";
import { type Outcome, planned } from "../output.ts";

type Options = { data: string; out?: string };

/** Keys need no database: the settings of a local stack, or those given. */
function ask<T>(data: string, command: { do: string; [option: string]: unknown }): Promise<T> {
  return askWatchdog<T>({ ...findMigrateEnv(data), ...environment() }, command);
}

const outOf = ({ out }: Options) => (out === undefined ? {} : { out: resolve(callerDir, out) });

type Generated = { path: string; older: string[] } & (
  | { done: false }
  | { done: true; id: string; sheet: string }
);

export async function generate(
  options: Options & { rotate?: boolean; sheet?: boolean; yes?: boolean },
): Promise<Outcome> {
  const { data, rotate = false, sheet = false, yes = false } = options;
  const command = { do: "offsite-keygen", ...outOf(options), rotate, apply: yes };
  const made = await ask<Generated>(data, command);
  const { path, older } = made;
  if (!made.done) {
    const what = `make a new key in ${path}; ${older.join(", ")} stays for reading`;
    return planned({ path, older }, `Plan: ${what}`);
  }
  const { id } = made;
  const kept = older.length > 0 ? ` ${older.join(", ")} stays for reading.` : "";
  const next = sheet
    ? ["", made.sheet]
    : ["Print its recovery sheet and keep it away from this machine: `svc offsite recovery-sheet`."];
  return {
    json: { path, id, older, ...(sheet && { sheet: made.sheet }) },
    text: [`Key ${id} is in ${path}.${kept}`, ...next].join("\n"),
  };
}

type Checked = {
  fit: "unused" | "same" | "rotated" | "other";
  active: string;
  older: string[];
  recorded: string[];
  missing: string[];
};

export async function check({ data }: Options): Promise<Outcome> {
  const checked = await ask<Checked>(data, { do: "offsite-check-key" });
  const { fit, active, recorded, missing } = checked;
  const texts: Record<Checked["fit"], string> = {
    unused: `The bucket names no key yet; the first pass records ${active}.`,
    same: `The bucket is sealed with the key ${active}, as here.`,
    rotated: `The bucket is sealed with the older key ${recorded[0]}; the next pass continues with ${active}.`,
    other: `The bucket is sealed with the key ${recorded[0]}, and the key here is ${active}. Nothing is copied or deleted.`,
  };
  const lacking = missing.filter((id) => id !== recorded[0]);
  const lines = [
    texts[fit],
    ...(lacking.length > 0 ? [`Some copies are sealed with ${lacking.join(", ")}, which is not here.`] : []),
    ...(missing.length > 0 ? ["`svc offsite restore-key` brings a key back from its recovery sheet."] : []),
  ];
  return { json: checked, text: lines.join("\n"), exitCode: missing.length > 0 ? 3 : 0 };
}

export async function showSheet({ data, key }: Options & { key?: string }): Promise<Outcome> {
  const command = { do: "offsite-recovery-sheet", ...(key !== undefined && { id: key }) };
  const answer = await ask<{ id: string; sheet: string }>(data, command);
  return { json: answer, text: answer.sheet };
}

/** The words are read from standard input, to keep them out of shell histories and process lists. */
export async function restore(options: Options & { add?: boolean }): Promise<Outcome> {
  if (process.stdin.isTTY) process.stderr.write("Words and key id of the sheet, then Ctrl-D:\n");
  const sheet = await readText(process.stdin);
  const command = { do: "offsite-restore-key", ...outOf(options), sheet, add: options.add ?? false };
  const answer = await ask<{ path: string; id: string; older: string[] }>(options.data, command);
  const kept = answer.older.length > 0 ? `, and ${answer.older.join(", ")} for reading` : "";
  return {
    json: answer,
    text: `Key ${answer.id} is in ${answer.path}${kept}. Compare it with the bucket: \`svc offsite check-key\`.`,
  };
}
