import { fieldError, type StatusCause } from "../field-error.ts";
import { isObject, type JsonObject, jsonEqual } from "../json.ts";

/** The part of a CRD's OpenAPI v3 schema that the server acts on. */
export type StructuralSchema = {
  type?: string;
  format?: string;
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: boolean | StructuralSchema;
  items?: StructuralSchema;
  required?: string[];
  enum?: unknown[];
  default?: unknown;
  nullable?: boolean;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  allOf?: StructuralSchema[];
  anyOf?: StructuralSchema[];
  oneOf?: StructuralSchema[];
  not?: StructuralSchema;
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  "x-kubernetes-int-or-string"?: boolean;
  "x-kubernetes-embedded-resource"?: boolean;
  "x-kubernetes-list-type"?: string;
  "x-kubernetes-list-map-keys"?: string[];
};

const embeddedKeys = ["apiVersion", "kind", "metadata"];

/** A copy of `value` without the fields that the schema does not name. */
export function prune(schema: StructuralSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = schema.items;
    return items ? value.map((item) => prune(items, item)) : value;
  }
  if (!isObject(value) || schema["x-kubernetes-int-or-string"]) return value;
  const out: JsonObject = {};
  for (const [key, inner] of Object.entries(value)) {
    const known = propertySchema(schema, key);
    if (known) out[key] = prune(known, inner);
    else if (keepsUnknown(schema, key)) out[key] = inner;
  }
  return out;
}

function propertySchema(schema: StructuralSchema, key: string): StructuralSchema | undefined {
  if (schema.properties && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  const rest = schema.additionalProperties;
  return isObject(rest) ? (rest as StructuralSchema) : undefined;
}

function keepsUnknown(schema: StructuralSchema, key: string): boolean {
  if (schema["x-kubernetes-preserve-unknown-fields"] || schema.additionalProperties === true) return true;
  return schema["x-kubernetes-embedded-resource"] === true && embeddedKeys.includes(key);
}

/** A copy of `value` with the schema's defaults filled in; a null that may not be one counts as absent. */
export function applyDefaults(schema: StructuralSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = schema.items;
    return items ? value.map((item) => applyDefaults(items, item)) : value;
  }
  if (!isObject(value)) return value;
  const out: JsonObject = { ...value };
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    const nullDropped = out[key] === null && inner.nullable !== true && inner.default !== undefined;
    if ((out[key] === undefined || nullDropped) && inner.default !== undefined) {
      out[key] = structuredClone(inner.default);
    }
  }
  for (const key of Object.keys(out)) {
    const inner = propertySchema(schema, key);
    if (inner) out[key] = applyDefaults(inner, out[key]);
  }
  return out;
}

/** All violations of the schema by `value`, with the messages of Kubernetes; `field` is the path of `value`. */
export function validate(schema: StructuralSchema, value: unknown, field = ""): StatusCause[] {
  if (value === null && schema.nullable) return [];
  const mistyped = checkType(schema, value, field);
  if (mistyped) return [mistyped];
  const causes: StatusCause[] = [];
  if (schema.enum && !schema.enum.some((entry) => jsonEqual(entry, value))) {
    causes.push(fieldError.unsupported(field, value, schema.enum));
  }
  if (typeof value === "string") causes.push(...checkString(schema, value, field));
  else if (typeof value === "number") causes.push(...checkNumber(schema, value, field));
  else if (Array.isArray(value)) causes.push(...checkList(schema, value, field));
  else if (isObject(value)) causes.push(...checkObject(schema, value, field));
  return [...causes, ...checkLogic(schema, value, field)];
}

function checkType(schema: StructuralSchema, value: unknown, field: string): StatusCause | undefined {
  if (schema["x-kubernetes-int-or-string"]) {
    if (typeof value === "string" || Number.isInteger(value)) return undefined;
    return typeCause(field, value, "integer,string");
  }
  if (!schema.type) return undefined;
  return matchesType(schema.type, value) ? undefined : typeCause(field, value, schema.type);
}

function matchesType(type: string, value: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  return typeof value === type;
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

function typeCause(field: string, value: unknown, type: string): StatusCause {
  return fieldError.invalid(
    field,
    typeName(value),
    `${field || "value"} in body must be of type ${type}: "${typeName(value)}"`,
  );
}

function checkString(schema: StructuralSchema, value: string, field: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const length = [...value].length;
  const bad = (text: string) =>
    causes.push(fieldError.invalid(field, value, `${field} in body should ${text}`));
  if (schema.maxLength !== undefined && length > schema.maxLength)
    bad(`be at most ${schema.maxLength} chars long`);
  if (schema.minLength !== undefined && length < schema.minLength)
    bad(`be at least ${schema.minLength} chars long`);
  if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value))
    bad(`match '${schema.pattern}'`);
  if (schema.format === "date-time" && Number.isNaN(Date.parse(value))) {
    causes.push(
      fieldError.invalid(
        field,
        value,
        `${field} in body must be of type date-time: ${JSON.stringify(value)}`,
      ),
    );
  }
  return causes;
}

function checkNumber(schema: StructuralSchema, value: number, field: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const bad = (text: string) =>
    causes.push(fieldError.invalid(field, value, `${field} in body should be ${text}`));
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below, multipleOf } = schema;
  if (minimum !== undefined && (above ? value <= minimum : value < minimum)) {
    bad(`greater than ${above ? "" : "or equal to "}${minimum}`);
  }
  if (maximum !== undefined && (below ? value >= maximum : value > maximum)) {
    bad(`less than ${below ? "" : "or equal to "}${maximum}`);
  }
  if (multipleOf !== undefined && value % multipleOf !== 0) bad(`a multiple of ${multipleOf}`);
  if (schema.format === "int32" && Math.abs(value) > 2 ** 31) bad("an int32");
  return causes;
}

function checkList(schema: StructuralSchema, value: unknown[], field: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const bad = (text: string) =>
    causes.push(fieldError.invalid(field, value, `${field} in body should ${text}`));
  if (schema.maxItems !== undefined && value.length > schema.maxItems)
    bad(`have at most ${schema.maxItems} items`);
  if (schema.minItems !== undefined && value.length < schema.minItems)
    bad(`have at least ${schema.minItems} items`);
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const seen = new Set<string>();
  value.forEach((item, index) => {
    if (schema.items) causes.push(...validate(schema.items, item, `${field}[${index}]`));
    const identity = listIdentity(schema["x-kubernetes-list-type"], keys, item);
    if (identity === undefined) return;
    if (seen.has(identity)) causes.push(fieldError.duplicate(`${field}[${index}]`, JSON.parse(identity)));
    seen.add(identity);
  });
  return causes;
}

function listIdentity(listType: string | undefined, keys: string[], item: unknown): string | undefined {
  if (listType === "set") return JSON.stringify(item);
  if (listType !== "map" || !isObject(item)) return undefined;
  return JSON.stringify(Object.fromEntries(keys.map((key) => [key, item[key]])));
}

function checkObject(schema: StructuralSchema, value: JsonObject, field: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const count = Object.keys(value).length;
  const bad = (text: string) =>
    causes.push(fieldError.invalid(field, value, `${field} in body should ${text}`));
  if (schema.maxProperties !== undefined && count > schema.maxProperties) {
    bad(`have at most ${schema.maxProperties} properties`);
  }
  if (schema.minProperties !== undefined && count < schema.minProperties) {
    bad(`have at least ${schema.minProperties} properties`);
  }
  for (const key of schema.required ?? []) {
    if (value[key] === undefined) causes.push(fieldError.required(join(field, key)));
  }
  for (const [key, inner] of Object.entries(value)) {
    const known = propertySchema(schema, key);
    if (known && inner !== undefined) causes.push(...validate(known, inner, join(field, key)));
  }
  return causes;
}

function checkLogic(schema: StructuralSchema, value: unknown, field: string): StatusCause[] {
  const causes = (schema.allOf ?? []).flatMap((part) => validate(part, value, field));
  const passing = (parts: StructuralSchema[]) =>
    parts.filter((part) => validate(part, value, field).length === 0).length;
  const bad = (text: string) =>
    causes.push(fieldError.invalid(field, value, `${field} in body must ${text}`));
  if (schema.anyOf && !schema["x-kubernetes-int-or-string"] && passing(schema.anyOf) === 0) {
    bad("validate at least one schema (anyOf)");
  }
  if (schema.oneOf && passing(schema.oneOf) !== 1) bad("validate one and only one schema (oneOf)");
  if (schema.not && passing([schema.not]) === 1) bad("not validate the schema (not)");
  return causes;
}

function join(field: string, key: string): string {
  return field ? `${field}.${key}` : key;
}
