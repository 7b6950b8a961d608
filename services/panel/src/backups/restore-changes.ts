// What the plan of a restore says (docs/reference/restore.md#plan). Pure.

import { isWithin } from "../access/paths.ts";
import type { Access } from "../access/use-access.ts";
import type { Output } from "../api/operations.ts";
import { formatBytes } from "../words/format.ts";
import type { Language } from "../words/language.ts";
import type { Words } from "../words/words.ts";

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

/** The counts in one sentence, without what there is none of. */
export function changesSentence(
  { backups: { plan: words } }: Pick<Words, "backups">,
  plan: Plan,
  language: Language,
): string {
  const { changed, removed, added, same } = plan;
  if (changed + removed + added === 0) return words.nothing(same);
  const size = (bytes: number) => formatBytes(bytes, language);
  const parts = [
    ...(changed > 0 ? [words.changed(changed, size(plan.changed_bytes))] : []),
    ...(removed > 0 ? [words.removed(removed, size(plan.removed_bytes))] : []),
    ...(added > 0 ? [words.added(added, size(plan.added_bytes))] : []),
  ];
  return words.all(new Intl.ListFormat(language).format(parts));
}

const order: Record<Change["change"], number> = { removed: 0, changed: 1, added: 2 };

/** What is lost first, then by path. */
export function sortChanges<File extends Pick<Change, "change">>(files: readonly File[]): File[] {
  // The sort keeps the order of paths, in which they come.
  return [...files].sort((one, other) => order[one.change] - order[other.change]);
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
