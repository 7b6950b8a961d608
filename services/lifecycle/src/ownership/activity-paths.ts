// Which paths of files stand in the activity of a server (docs/reference/audit.md#activity). Pure.

import type { settings } from "@svc/proto";

/**
 * An entry without the paths that its reader may not read; what the reader did itself stays. `to` is a path in entries of
 * files alone.
 */
export function withoutClosedPaths(
  entry: settings.ActivityEntry,
  mayRead: (path: string) => boolean,
): settings.ActivityEntry {
  if (entry.by === "you") return entry;
  const { path, to, only, ...payload } = entry.payload;
  const isTarget = entry.action.startsWith("file.");
  const isOpen = (value: unknown) => typeof value === "string" && mayRead(value);
  const open = Array.isArray(only) ? only.filter(isOpen) : [];
  return {
    ...entry,
    payload: {
      ...payload,
      ...(isOpen(path) && { path }),
      ...(to !== undefined && (!isTarget || isOpen(to)) && { to }),
      ...(open.length > 0 && { only: open }),
    },
  };
}
