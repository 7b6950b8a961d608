const hidden = "[hidden]";
const secrets = new Set(["password", "token", "code", "cookie", "authorization", "secret"]);

/**
 * Hides the values of keys that sound secret, at the top and one level down. Entries without any are returned
 * unchanged, because every request logs one.
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
