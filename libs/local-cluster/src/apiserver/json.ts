/** A JSON object. */
export type JsonObject = Record<string, unknown>;

/** True for a JSON object, false for lists, null and scalars. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object at `key`, or an empty one. */
export function objectAt(value: unknown, key: string): JsonObject {
  const inner = isObject(value) ? value[key] : undefined;
  return isObject(inner) ? inner : {};
}

/** The list at `key`, or an empty one. */
export function listAt(value: unknown, key: string): unknown[] {
  const inner = isObject(value) ? value[key] : undefined;
  return Array.isArray(inner) ? inner : [];
}

/** The string at `key`, or an empty one. */
export function stringAt(value: unknown, key: string): string {
  const inner = isObject(value) ? value[key] : undefined;
  return typeof inner === "string" ? inner : "";
}

/** Equality of JSON values; the order of keys does not matter. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => jsonEqual(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a).filter((key) => a[key] !== undefined);
  const others = Object.keys(b).filter((key) => b[key] !== undefined);
  return (
    keys.length === others.length && keys.every((key) => Object.hasOwn(b, key) && jsonEqual(a[key], b[key]))
  );
}

/** Deep-freezes a JSON value, so that a reader of the store cannot change it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}

/** The value at a path of keys, undefined where the path ends early. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (!isObject(current) || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
  }
  return current;
}

/** A copy of `root` with `value` set at a path of keys; undefined removes the key. */
export function withValueAt(root: JsonObject, path: readonly string[], value: unknown): JsonObject {
  const [key, ...rest] = path;
  if (key === undefined) return root;
  const copy = { ...root };
  if (rest.length > 0) copy[key] = withValueAt(objectAt(root, key), rest, value);
  else if (value === undefined) delete copy[key];
  else copy[key] = value;
  return copy;
}
