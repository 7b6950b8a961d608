import { readFileSync } from "node:fs";
import { canonicalQuantity } from "@svc/kube/quantity";
import { isObject, type JsonObject } from "../json.ts";

/** Fields of the built-in models: model name to field name to encoded type. */
export type BuiltinModels = Record<string, Record<string, string>>;

/** A field that does not fit its type; the text is for the 400 answer. */
export class FieldTypeError extends Error {}

/** Reads the generated table of built-in models (tools/write-builtin-types.ts). */
export function loadBuiltinModels(): BuiltinModels {
  const text = readFileSync(new URL("./builtin-types.json", import.meta.url), "utf8");
  return JSON.parse(text) as BuiltinModels;
}

/** The encoded type of a field of a model, undefined for a field that the model lacks. */
export function fieldType(models: BuiltinModels, model: string, field: string): string | undefined {
  const fields = models[model];
  return fields && Object.hasOwn(fields, field) ? fields[field] : undefined;
}

/**
 * A copy of `value` with only the fields that the model knows, nulls and empty lists dropped, quantities in their
 * canonical form, as the typed decoding of a real API server leaves it.
 * Throws FieldTypeError where a value has the wrong type.
 */
export function conform(models: BuiltinModels, model: string, value: unknown): JsonObject {
  return conformModel(models, model, { value, path: "" });
}

type At = { value: unknown; path: string };

function conformModel(models: BuiltinModels, model: string, at: At): JsonObject {
  if (!isObject(at.value)) throw mismatch(at, "object");
  const fields = models[model] ?? {};
  const out: JsonObject = {};
  for (const [key, inner] of Object.entries(at.value)) {
    if (inner === null || inner === undefined || !Object.hasOwn(fields, key)) continue;
    const type = fields[key] ?? "any";
    const value = conformType(models, type, { value: inner, path: `${at.path}.${key}` });
    if (value !== undefined) out[key] = value;
  }
  return out;
}

function conformType(models: BuiltinModels, type: string, at: At): unknown {
  if (type.startsWith("[]")) {
    if (!Array.isArray(at.value)) throw mismatch(at, "list");
    // A list written as [] is not kept: the typed encoding drops it. Inside a map of lists it would stay.
    if (at.value.length === 0) return undefined;
    const inner = type.slice(2);
    return at.value.map((value, index) =>
      conformType(models, inner, { value, path: `${at.path}[${index}]` }),
    );
  }
  if (type.startsWith("{}")) return conformMap(models, type.slice(2), at);
  const scalar = scalars[type];
  if (scalar) return scalar(at);
  return conformModel(models, type, at);
}

function conformMap(models: BuiltinModels, inner: string, at: At): JsonObject | undefined {
  if (!isObject(at.value)) throw mismatch(at, "map");
  const entries = Object.entries(at.value);
  if (entries.length === 0) return undefined;
  const out: JsonObject = {};
  for (const [key, value] of entries) {
    const empty = value === null && (inner === "string" || inner === "bytes") ? "" : value;
    out[key] = conformType(models, inner, { value: empty, path: `${at.path}.${key}` });
  }
  return out;
}

const scalars: Record<string, (at: At) => unknown> = {
  any: (at) => at.value,
  string: (at) => expect(at, typeof at.value === "string", "string"),
  boolean: (at) => expect(at, typeof at.value === "boolean", "bool"),
  int: (at) => expect(at, Number.isInteger(at.value), "int"),
  number: (at) => expect(at, typeof at.value === "number", "number"),
  intOrString: (at) =>
    expect(at, Number.isInteger(at.value) || typeof at.value === "string", "int or string"),
  time: (at) => expect(at, typeof at.value === "string" && !Number.isNaN(Date.parse(at.value)), "time"),
  bytes: (at) => expect(at, typeof at.value === "string" && isBase64(at.value), "base64 bytes"),
  quantity: (at) => {
    const text = typeof at.value === "number" ? String(at.value) : at.value;
    const canonical = typeof text === "string" ? canonicalQuantity(text) : undefined;
    return expect({ ...at, value: canonical ?? at.value }, canonical !== undefined, "quantity");
  },
};

function expect(at: At, good: boolean, type: string): unknown {
  if (!good) throw mismatch(at, type);
  return at.value;
}

function isBase64(text: string): boolean {
  const bare = text.replace(/[\r\n]/g, "");
  return bare.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(bare);
}

function mismatch(at: At, type: string): FieldTypeError {
  const shown = JSON.stringify(at.value) ?? "null";
  const short = shown.length > 60 ? `${shown.slice(0, 60)}...` : shown;
  return new FieldTypeError(`${at.path.slice(1)}: expected ${type}, found ${short}`);
}
