import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type Properties = ReadonlyMap<string, string>;

const fileName = "server.properties";
// The file holds the RCON password.
const mode = 0o640;

export function readProperties(dataDir: string): Properties {
  const path = join(dataDir, fileName);
  if (!existsSync(path)) return new Map();
  const entries = readFileSync(path, "utf8")
    .split(/\r?\n/)
    .filter((line) => /^[^#!\s][^=]*=/.test(line))
    .map((line): [string, string] => {
      const equals = line.indexOf("=");
      return [line.slice(0, equals).trim(), unescapeValue(line.slice(equals + 1))];
    });
  return new Map(entries);
}

/** Writes the file of a new server; an existing one belongs to its owner and stays as it is. */
export function ensureProperties(dataDir: string, values: Record<string, string>): void {
  const path = join(dataDir, fileName);
  if (existsSync(path)) return;
  const lines = Object.entries(values)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${escapeValue(value)}`);
  replaceFile(path, ["#Minecraft server properties", ...lines, ""].join("\n"));
}

export function setProperty(dataDir: string, key: string, value: string): void {
  const path = join(dataDir, fileName);
  const lines = existsSync(path) ? readFileSync(path, "utf8").replace(/\n$/, "").split("\n") : [];
  const index = lines.findIndex((line) => line.startsWith(`${key}=`));
  lines.splice(index < 0 ? lines.length : index, index < 0 ? 0 : 1, `${key}=${escapeValue(value)}`);
  replaceFile(path, `${lines.join("\n")}\n`);
}

/** A reader, or a start after a crash, sees the old file or the new one and never half of it. */
export function replaceFile(path: string, text: string): void {
  const partial = `${path}.partial`;
  writeFileSync(partial, text, { mode });
  renameSync(partial, path);
}

function escapeValue(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\r", "\\r");
}

function unescapeValue(value: string): string {
  const named: Record<string, string> = { n: "\n", r: "\r", t: "\t" };
  return value.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_, hex?: string, other?: string) =>
    hex ? String.fromCharCode(Number.parseInt(hex, 16)) : (named[other ?? ""] ?? other ?? ""),
  );
}
