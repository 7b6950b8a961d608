import { ApiStatus, badRequest } from "../api-status.ts";
import { isObject, jsonEqual } from "../json.ts";

type Operation = { op: string; path: string; from?: string; value?: unknown };
type Parent = { container: unknown[] | Record<string, unknown>; key: string };

const operationLimit = 10_000;

/**
 * RFC 6902 on a copy of `target`. A malformed patch is a 400, a failed `test` or a path that does not
 * exist a 422 as in Kubernetes, more than 10,000 operations a 413.
 */
export function jsonPatch(target: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) throw badRequest("a JSON patch is a list of operations");
  if (patch.length > operationLimit) {
    throw new ApiStatus(413, "RequestEntityTooLarge", {
      message: `The allowed maximum operations in a JSON patch is ${operationLimit}, got ${patch.length}`,
    });
  }
  const root = { "": structuredClone(target) } as Record<string, unknown>;
  for (const operation of patch) applyOperation(root, readOperation(operation));
  return root[""];
}

function readOperation(value: unknown): Operation {
  if (!isObject(value) || typeof value["op"] !== "string" || typeof value["path"] !== "string") {
    throw badRequest("an operation of a JSON patch has an op and a path");
  }
  const from = value["from"];
  return {
    op: value["op"],
    path: value["path"],
    ...(typeof from === "string" ? { from } : {}),
    value: value["value"],
  };
}

function applyOperation(root: Record<string, unknown>, operation: Operation): void {
  const { op, path } = operation;
  if (op === "add") insert(root, path, structuredClone(operation.value));
  else if (op === "remove") remove(root, path);
  else if (op === "replace") replace(root, path, structuredClone(operation.value));
  else if (op === "move") insert(root, path, remove(root, operation.from ?? ""));
  else if (op === "copy") insert(root, path, structuredClone(read(root, operation.from ?? "")));
  else if (op === "test") {
    const found = tryRead(root, path);
    if (!jsonEqual(found ?? null, operation.value ?? null))
      throw refused(`testing value ${path} failed: test failed`);
  } else throw refused(`Unexpected kind: ${op}`);
}

function refused(detail: string): ApiStatus {
  return new ApiStatus(422, "Invalid", {
    message: `the server rejected our request due to an error in our request: ${detail}`,
  });
}

function keysOf(path: string): string[] {
  if (path !== "" && !path.startsWith("/")) throw refused(`the path ${path} does not start with /`);
  const keys = path.split("/").slice(1);
  return keys.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function parentOf(root: Record<string, unknown>, path: string): Parent {
  const keys = ["", ...keysOf(path)];
  let container: unknown = root;
  for (const key of keys.slice(0, -1)) container = member(container, key, path);
  if (!Array.isArray(container) && !isObject(container)) throw refused(`missing path ${path}`);
  return { container, key: keys.at(-1) ?? "" };
}

function member(container: unknown, key: string, path: string): unknown {
  if (Array.isArray(container)) return container[indexIn(container, key, path)];
  if (!isObject(container) || !Object.hasOwn(container, key)) throw refused(`missing path ${path}`);
  return container[key];
}

function indexIn(list: unknown[], key: string, path: string): number {
  const index = /^-?\d+$/.test(key) ? Number(key) : Number.NaN;
  if (!Number.isInteger(index) || index < 0 || index >= list.length)
    throw refused(`invalid index in ${path}`);
  return index;
}

function read(root: Record<string, unknown>, path: string): unknown {
  const { container, key } = parentOf(root, path);
  return member(container, key, path);
}

function tryRead(root: Record<string, unknown>, path: string): unknown {
  try {
    return read(root, path);
  } catch {
    return undefined;
  }
}

function insert(root: Record<string, unknown>, path: string, value: unknown): void {
  const { container, key } = parentOf(root, path);
  if (!Array.isArray(container)) {
    define(container, key, value);
    return;
  }
  const index =
    key === "-" || key === String(container.length) ? container.length : indexIn(container, key, path);
  container.splice(index, 0, value);
}

// Assignment would set the prototype for a key named __proto__.
function define(container: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
}

function replace(root: Record<string, unknown>, path: string, value: unknown): void {
  const { container, key } = parentOf(root, path);
  member(container, key, path);
  if (Array.isArray(container)) container[indexIn(container, key, path)] = value;
  else define(container, key, value);
}

function remove(root: Record<string, unknown>, path: string): unknown {
  const { container, key } = parentOf(root, path);
  const value = member(container, key, path);
  if (Array.isArray(container)) container.splice(indexIn(container, key, path), 1);
  else delete container[key];
  return value;
}
