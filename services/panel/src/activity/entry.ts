// What an entry of a server's activity says beside who did what.

import type { Output } from "../api/operations.ts";

export type Entry = Output<"ownership.listActivity">["entries"][number];

/** What is shown of an entry, in this order (docs/reference/audit.md#activity). */
const shown = [
  ...["player", "mc_uuid", "command", "node", "group", "path", "from", "to", "fields"],
  ...["image_from", "image_to", "label", "backup_id", "result", "outcome", "reason", "cause", "code"],
  ...["host"],
] as const;

/** Texts of an entry that tell it from others of its action. */
export function detailsOf({ payload }: Pick<Entry, "payload">): string[] {
  return shown.flatMap((key) => {
    const text = textOf(payload[key]);
    return text === "" ? [] : [text];
  });
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number") return String(value);
  return Array.isArray(value) ? value.map(textOf).filter(Boolean).join(", ") : "";
}

/** Key of the words for an action: those of access and of the status page say by their payload what was done. */
export function actionOf({ action, payload }: Pick<Entry, "action" | "payload">): string {
  const { action: done, public: isPublic } = payload;
  if (action === "server.status_page" && typeof isPublic === "boolean")
    return `${action}.${isPublic ? "on" : "off"}`;
  return action.startsWith("access.") && typeof done === "string" ? `${action}.${done}` : action;
}
