import type { z } from "zod";

/**
 * Parses what a build of another version wrote: members that only a newer one knows are left out (docs/reference/mesh.md#versions).
 * Throws a `ZodError` for anything else that does not fit. Not for requests: what they ask for must not be left out.
 */
export function parseNewer<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const unknown = result.error.issues.filter((issue) => issue.code === "unrecognized_keys");
  if (unknown.length < result.error.issues.length) throw result.error;
  const known = structuredClone(value);
  for (const { path, keys } of unknown) leaveOut(known, path, keys);
  return schema.parse(known);
}

function leaveOut(value: unknown, path: readonly PropertyKey[], keys: readonly string[]): void {
  const [name, ...rest] = path;
  if (typeof value !== "object" || value === null) return;
  const members = value as Record<PropertyKey, unknown>;
  if (name !== undefined) leaveOut(members[name], rest, keys);
  else for (const key of keys) delete members[key];
}
