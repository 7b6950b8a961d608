// Templates in words. Pure.

import type { serverTemplates as contracts, OutputOf } from "@svc/proto";
import { table } from "../output.ts";
import { settingsText } from "./settings.ts";

/** Commands in it are in backticks. */
export function templatesText(templates: readonly contracts.ListedTemplate[]): string {
  if (templates.length === 0)
    return "There are no templates yet. Make one with: `svc template save NAME --from SERVER`";
  const head = ["NAME", "TITLE", "FOR", "SETS", "PROBLEM"];
  const rows = templates.map(({ name, title, offered, settings, problem }) => [
    ...[name, title, offered ? "accounts" : "staff", settingsText(settings), problem ?? "-"],
  ]);
  return table([head, ...rows]);
}

/** What an account may use, and how many servers it may still make. */
export function offeredText({ templates, left }: OutputOf<typeof contracts.listOffered>): string {
  if (templates.length === 0) return "No templates are offered.";
  const head = ["NAME", "TITLE", "MEMORY", "DISK", "IMAGE", "PROBLEM"];
  const rows = templates.map(({ name, title, memory, storage, image, problem, detail }) => [
    ...[name, title, memory, storage, image ?? "-", detail ?? problem ?? "-"],
  ]);
  const count = left === 1 ? "1 more server" : `${left} more servers`;
  return `${table([head, ...rows])}\nYou can make ${count}.`;
}

/** `leftOut`: what of the server `from` is no part of a template. */
export function savedText(
  { name, settings, offered }: contracts.ServerTemplate,
  { leftOut, from }: { leftOut: readonly string[]; from: string | undefined },
): string {
  const who = offered ? "accounts may use it" : "for staff alone; --offer lets accounts use it";
  const without = leftOut.length === 0 ? "" : ` Without ${leftOut.join(", ")} of ${from}.`;
  return `Saved ${name}: ${settingsText(settings)}; ${who}.${without}`;
}
