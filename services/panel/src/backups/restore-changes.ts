// What the plan of a restore says (docs/reference/restore.md#plan). Pure.

import { isWithin } from "../access/paths.ts";
import type { Access } from "../access/use-access.ts";
import type { Output } from "../api/operations.ts";
import { formatBytes } from "../words/format.ts";
import type { Language } from "../words/language.ts";
import type { Words } from "../words/words.ts";
import { changesSentence } from "./file-changes.ts";

export type Plan = Output<"restorePlans.plan">;
type Change = Plan["files"][number];

/** Whether the reader may see what a restore would change: of the whole world, or of these files and folders. */
export function mayPlan(
  { may, limits }: Pick<Access, "may" | "limits">,
  only: readonly string[] | undefined,
): boolean {
  if (!may("backups.restore") || !may("backups.download") || !may("files.read")) return false;
  const lists = [limits?.read_paths, limits?.write_paths];
  if (only === undefined) return lists.every((paths) => paths === undefined);
  return only.every((path) => lists.every((paths) => isWithin(path, paths)));
}

/** What a restore would do, in one sentence. */
export function planSentence(
  { backups: { plan: words, allChanges } }: Pick<Words, "backups">,
  plan: Plan,
  language: Language,
): string {
  const size = (bytes: number) => formatBytes(bytes, language);
  const sized = {
    nothing: words.nothing(plan.same),
    all: allChanges,
    removed: (n: number) => words.removed(n, size(plan.removed_bytes)),
    changed: (n: number) => words.changed(n, size(plan.changed_bytes)),
    added: (n: number) => words.added(n, size(plan.added_bytes)),
  };
  return changesSentence(plan, sized, language);
}

/** What becomes of one file, and its size. */
export function changeWords(
  { backups: { plan: words } }: Pick<Words, "backups">,
  { change, size, was, may_be_same }: Change,
  language: Language,
): string {
  const now = formatBytes(size, language);
  if (may_be_same) return words.mayBeSame(now);
  if (change !== "changed") return words.one[change](now);
  const before = formatBytes(was ?? size, language);
  return before === now ? words.one.changed(now) : words.resized(before, now);
}
