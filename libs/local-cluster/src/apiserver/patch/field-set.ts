import { isObject, type JsonObject, jsonEqual } from "../json.ts";
import type { ResourceType } from "../resource-type.ts";
import { type BuiltinModels, fieldType } from "../schema/builtin.ts";
import { listRule } from "../schema/list-keys.ts";
import type { StructuralSchema } from "../schema/structural.ts";

/** How the fields of a value are named: which lists are maps, sets or one atom. */
export type FieldShape = {
  field(key: string): FieldShape;
  item(): FieldShape;
  /** Keys that name an item of this list; empty for a set of scalars; undefined for a list that is one atom. */
  listKeys?: string[];
};

/** Paths of fields as managedFields writes them (`f:spec`, `k:{"name":"a"}`, `v:"x"`, `.`), joined by newlines. */
export type FieldSet = Set<string>;

const separator = "\n";
const untyped: FieldShape = { field: () => untyped, item: () => untyped };

/** The shape of a kind's objects. */
export function shapeOf(models: BuiltinModels, type: ResourceType): FieldShape {
  if (type.model) return builtinShape(models, type.model);
  if (!type.custom) return untyped;
  const custom = customShape(type.custom.schema);
  const metadata = builtinShape(models, "V1ObjectMeta");
  return { ...custom, field: (key) => (key === "metadata" ? metadata : custom.field(key)) };
}

function builtinShape(models: BuiltinModels, type: string, listKeys?: string[]): FieldShape {
  return {
    field: (key) => {
      if (type.startsWith("{}")) return builtinShape(models, type.slice(2));
      return builtinShape(models, fieldType(models, type, key) ?? "any", listRule(type, key)?.apply);
    },
    item: () => builtinShape(models, type.replace(/^\[\]/, "")),
    ...(listKeys ? { listKeys } : {}),
  };
}

function customShape(schema: StructuralSchema | undefined): FieldShape {
  if (!schema) return untyped;
  const listType = schema["x-kubernetes-list-type"];
  const keys =
    listType === "map" ? schema["x-kubernetes-list-map-keys"] : listType === "set" ? [] : undefined;
  return {
    field: (key) => {
      const rest = schema.additionalProperties;
      return customShape(
        schema.properties?.[key] ?? (isObject(rest) ? (rest as StructuralSchema) : undefined),
      );
    },
    item: () => customShape(schema.items),
    ...(keys ? { listKeys: keys } : {}),
  };
}

const serverOwned = [
  "name",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "managedFields",
];

/** The fields that an object sets, without the ones that belong to the server. */
export function fieldsOf(shape: FieldShape, object: JsonObject): FieldSet {
  const { apiVersion: _version, kind: _kind, metadata, ...rest } = object;
  const named = Object.entries(isObject(metadata) ? metadata : {}).filter(
    ([key]) => !serverOwned.includes(key),
  );
  const out: FieldSet = new Set();
  collect({ shape, out }, named.length > 0 ? { metadata: Object.fromEntries(named), ...rest } : rest, []);
  return out;
}

function collect(into: { shape: FieldShape; out: FieldSet }, value: unknown, path: string[]): void {
  const { shape, out } = into;
  if (isObject(value) && Object.keys(value).length > 0) {
    for (const [key, inner] of Object.entries(value)) {
      if (inner !== undefined) collect({ shape: shape.field(key), out }, inner, [...path, `f:${key}`]);
    }
  } else if (Array.isArray(value) && shape.listKeys && value.length > 0) {
    for (const item of value) {
      const name = itemName(shape, item);
      if (isObject(item)) {
        out.add([...path, name, "."].join(separator));
        collect({ shape: shape.item(), out }, item, [...path, name]);
      } else out.add([...path, name].join(separator));
    }
  } else if (path.length > 0) out.add(path.join(separator));
}

/** How an item of a keyed list or set is named. */
export function itemName(shape: FieldShape, item: unknown): string {
  const keys = shape.listKeys ?? [];
  if (keys.length === 0 || !isObject(item)) return `v:${JSON.stringify(item)}`;
  // The protocol of a port is TCP when nobody says otherwise; an item must keep its name when it is defaulted.
  const entries = keys.map((key) => [key, item[key] ?? (key === "protocol" ? "TCP" : undefined)]);
  return `k:${JSON.stringify(Object.fromEntries(entries.filter(([, value]) => value !== undefined)))}`;
}

/** The value at a path of a field set, undefined where there is none. */
export function valueOfField(shape: FieldShape, root: unknown, path: string): unknown {
  let value = root;
  let at = shape;
  for (const part of path.split(separator)) {
    if (part === ".") return value === undefined ? undefined : true;
    if (part.startsWith("f:")) {
      const key = part.slice(2);
      value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
      at = at.field(key);
    } else {
      const list: unknown[] = Array.isArray(value) ? value : [];
      const shapeHere = at;
      value = list.find((item) => itemName(shapeHere, item) === part);
      at = at.item();
    }
  }
  return value;
}

/** True when both values have the same thing at a path. */
export function sameField(shape: FieldShape, path: string, sides: { a: unknown; b: unknown }): boolean {
  return jsonEqual(valueOfField(shape, sides.a, path) ?? null, valueOfField(shape, sides.b, path) ?? null);
}

/** A copy of `value` without the field at a path; emptied objects and lists go with it. */
export function withoutField(shape: FieldShape, value: unknown, path: string): unknown {
  return removeAt(shape, value, path.split(separator));
}

function removeAt(shape: FieldShape, value: unknown, path: string[]): unknown {
  const [part = "", ...rest] = path;
  if (part === ".") return isObject(value) ? undefined : value;
  if (part.startsWith("f:")) {
    if (!isObject(value)) return value;
    const key = part.slice(2);
    const inner = rest.length === 0 ? undefined : removeAt(shape.field(key), value[key], rest);
    const { [key]: _old, ...others } = value;
    if (inner === undefined || isEmpty(inner)) return Object.keys(others).length > 0 ? others : undefined;
    return { ...value, [key]: inner };
  }
  if (!Array.isArray(value)) return value;
  return value.flatMap((item) => {
    if (itemName(shape, item) !== part) return [item];
    const inner = rest.length === 0 ? undefined : removeAt(shape.item(), item, rest);
    return inner === undefined ? [] : [inner];
  });
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** The `fieldsV1` tree of a set. */
export function toTree(fields: FieldSet): JsonObject {
  const root: JsonObject = {};
  for (const path of fields) {
    let at = root;
    for (const part of path.split(separator)) {
      at[part] ??= {};
      at = at[part] as JsonObject;
    }
  }
  return root;
}

/** The set of a `fieldsV1` tree. */
export function fromTree(tree: unknown, path: string[] = [], out: FieldSet = new Set()): FieldSet {
  const entries = Object.entries(isObject(tree) ? tree : {});
  if (entries.length === 0 && path.length > 0) out.add(path.join(separator));
  for (const [part, inner] of entries) fromTree(inner, [...path, part], out);
  return out;
}

/** A path as messages show it: `.spec.containers[name="a"].image`. */
export function showField(path: string): string {
  return path
    .split(separator)
    .map((part) => {
      if (part.startsWith("f:")) return `.${part.slice(2)}`;
      if (part.startsWith("v:")) return `[=${part.slice(2)}]`;
      if (!part.startsWith("k:")) return "";
      const keys = Object.entries(JSON.parse(part.slice(2)) as JsonObject);
      return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(",")}]`;
    })
    .join("");
}
