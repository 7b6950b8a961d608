import { readFileSync } from "node:fs";
import { parse as parseToml } from "smol-toml";
import type { z } from "zod";

/** All sections that the file may have; a service reads only its own (docs/reference/settings.md). */
const sectionNames = new Set([
  "server",
  "database",
  "velocity",
  "auth",
  "k8s",
  "registry",
  "archive",
  "offsite",
  "smtp",
  "audit",
  "auth_source",
  "gateway",
  "panel",
  "lifecycle",
  "storage",
  "builds",
  "identity",
  "ops_watchdog",
]);

/** Says in one sentence why a configuration cannot be used. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

type Table = Record<string, unknown>;

/**
 * Reads the settings of one service: the TOML file (none when `file` is undefined), then `--set section.key=value`
 * overrides, then the defaults of `schema`, an object of sections. Unknown sections and keys are rejected.
 * Throws a `ConfigError` that names every problem.
 */
export function loadSettings<S extends z.ZodObject>(
  schema: S,
  source: { file?: string | undefined; overrides?: readonly string[] },
): z.output<S> {
  const table = source.file === undefined ? {} : readTable(source.file);
  for (const override of source.overrides ?? []) applyOverride(table, override);
  checkSections(table);
  const own = Object.fromEntries(Object.entries(table).filter(([name]) => name in schema.shape));
  const result = schema.safeParse(own);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => `${issue.path.join(".") || "file"}: ${issue.message}`);
  throw new ConfigError(`configuration: ${problems.join("; ")}`);
}

/**
 * Checks the form and the section of `--set` overrides, for a program that only passes them on; the services check
 * keys and values. Throws `ConfigError`.
 */
export function checkOverrides(overrides: readonly string[]): void {
  const table: Table = {};
  for (const override of overrides) applyOverride(table, override);
  checkSections(table);
}

function checkSections(table: Table): void {
  for (const name of Object.keys(table)) {
    if (!sectionNames.has(name)) throw new ConfigError(`configuration: there is no section [${name}]`);
  }
}

function readTable(file: string): Table {
  try {
    return parseToml(readFileSync(file, "utf8"));
  } catch (error) {
    throw new ConfigError(
      `configuration: ${file} cannot be read: ${String((error as Error).message).split("\n")[0]}`,
    );
  }
}

function applyOverride(table: Table, override: string): void {
  const [, sectionName, key, text] = /^([a-z0-9_]+)\.([a-z0-9_]+)=(.*)$/s.exec(override) ?? [];
  if (sectionName === undefined || key === undefined || text === undefined) {
    throw new ConfigError(`--set ${override}: write it as section.key=value`);
  }
  const current = table[sectionName];
  const target: Table = typeof current === "object" && current !== null ? (current as Table) : {};
  table[sectionName] = { ...target, [key]: parseValue(text) };
}

// A value that parses as TOML is one (numbers, booleans, arrays); anything else is a string.
function parseValue(text: string): unknown {
  try {
    return parseToml(`value = ${text}`)["value"];
  } catch {
    return text;
  }
}
