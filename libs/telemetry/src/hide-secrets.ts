const hidden = "[hidden]";
const secrets = new Set(["password", "token", "code", "cookie", "authorization", "secret"]);

/**
 * The entry without what must not be read: values of secret-sounding keys, at the top and one level down. Entries
 * without any are given back as they are, for every request writes one.
 */
export function hideSecrets(entry: Record<string, unknown>): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const key in entry) {
    const value = entry[key];
    const safe = secrets.has(key) ? hidden : hideInside(value);
    if (safe === value) continue;
    copy ??= { ...entry };
    copy[key] = safe;
  }
  return copy ?? entry;
}

function hideInside(value: unknown): unknown {
  if (typeof value !== "object" || value === null || value instanceof Error || Array.isArray(value))
    return value;
  let copy: Record<string, unknown> | undefined;
  for (const key in value) {
    if (!secrets.has(key)) continue;
    copy ??= { ...(value as Record<string, unknown>) };
    copy[key] = hidden;
  }
  return copy ?? value;
}
