// The difference of two objects as a JSON patch (RFC 6902).

type Json = unknown;
export type Operation = { op: "add" | "replace" | "remove"; path: string; value?: Json };

/** Operations that turn `before` into `after`, in an order in which they can be applied. */
export function patchOf(before: Json, after: Json, path = ""): Operation[] {
  if (isEqual(before, after)) return [];
  if (isTable(before) && isTable(after)) return patchOfTables(before, after, path);
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item, at) => patchOf(item, after[at], `${path}/${at}`));
  }
  return [{ op: "replace", path, value: after }];
}

function patchOfTables(before: Record<string, Json>, after: Record<string, Json>, path: string): Operation[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key): Operation[] => {
    const at = `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (!(key in after)) return [{ op: "remove", path: at }];
    if (!(key in before)) return [{ op: "add", path: at, value: after[key] }];
    return patchOf(before[key], after[key], at);
  });
}

function isTable(value: Json): value is Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEqual(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
