// The schema of the values as JSON Schema, as a commented values.yaml and as a table.

import { z } from "zod";
import { Values } from "./schema.ts";

type Schema = {
  description?: string;
  default?: unknown;
  properties?: Record<string, Schema>;
  enum?: unknown[];
  [key: string]: unknown;
};

/** JSON Schema of the values, as Helm checks them. */
export function valuesSchema(): Schema {
  const { $schema, ...schema } = z.toJSONSchema(Values, { io: "input", target: "draft-7" }) as Schema;
  return { $schema, title: "Values of svc", ...schema };
}

/** All values with their defaults, each under a comment. */
export function valuesYaml(): string {
  const lines = linesOf(valuesSchema(), 0);
  return `# Values of svc. Generated from services/cli/src/manifests/values by \`npm run manifests\`; override them in a file of your own.\n${lines.join("\n")}\n`;
}

function linesOf({ properties = {} }: Schema, indent: number): string[] {
  const space = " ".repeat(indent);
  return Object.entries(properties).flatMap(([key, schema]) => {
    const comment = `${space}# ${describe(schema)}`;
    if (schema.properties) return [comment, `${space}${key}:`, ...linesOf(schema, indent + 2)];
    return [comment, `${space}${key}: ${JSON.stringify(schema.default)}`];
  });
}

function describe({ description = "", enum: choices }: Schema): string {
  return choices ? `${description} One of ${choices.join(", ")}.` : description;
}

/** Rows of a table: path, default, meaning. */
export function valueRows(): { path: string; fallback: string; meaning: string }[] {
  return rowsOf(valuesSchema(), "");
}

function rowsOf(
  { properties = {} }: Schema,
  prefix: string,
): { path: string; fallback: string; meaning: string }[] {
  return Object.entries(properties).flatMap(([key, schema]) => {
    const path = `${prefix}${key}`;
    if (schema.properties) return rowsOf(schema, `${path}.`);
    return [{ path, fallback: JSON.stringify(schema.default), meaning: describe(schema) }];
  });
}
