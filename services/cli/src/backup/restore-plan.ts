// What a restore would change, printed before anybody confirms it (docs/reference/restore.md#plan).

import type { Mesh } from "@svc/mesh";
import { type FaultName, isFault, restorePlans } from "@svc/proto";
import { sizeText, table } from "../output.ts";

/** `changes` is null where they are not known; then `why` says so. */
type Planned = { changes: restorePlans.RestorePlan | null; why?: string };

/** These keep a plan from being made, and say nothing against the backup. */
const unknowable: ReadonlySet<FaultName> = new Set(["not_stopped", "no_world_volume", "unavailable"]);

export async function planChanges(
  mesh: Mesh,
  input: { id: string; only?: string[] | undefined },
): Promise<Planned> {
  const { id, only } = input;
  try {
    return { changes: await mesh.call(restorePlans.planByOperator, { id, ...(only && { only }) }) };
  } catch (error) {
    if (isFault(error) && unknowable.has(error.fault)) return { changes: null, why: error.message };
    throw error;
  }
}

const marks = { removed: "-", changed: "~", added: "+" } as const;
type Change = keyof typeof marks;
const order = Object.keys(marks) as Change[];
const mostLines = 20;

/** The sum and the first files: what is lost comes first. */
export function changesText({ changes, why }: Planned): string {
  if (!changes) return `What it would change is not known: ${why}`;
  const { added, changed, removed, same, may_be_same, files } = changes;
  const total = added + changed + removed;
  if (total === 0) return `It changes nothing: all ${same} files are the same.`;
  const shown = order.flatMap((one) => files.filter(({ change }) => change === one)).slice(0, mostLines);
  const lines = shown.map((file) => [marks[file.change], sizeText(file.size), file.path]);
  const sums = [
    `removes ${removed} ${removed === 1 ? "file" : "files"} (-, ${sizeText(changes.removed_bytes)})`,
    `changes ${changed} (~, ${sizeText(changes.changed_bytes)})`,
    `adds ${added} (+, ${sizeText(changes.added_bytes)})`,
  ];
  return [
    `It ${sums.join(", ")}; ${same} stay the same.`,
    ...(may_be_same > 0
      ? [
          `Of those that change ${may_be_same} may be the same: only their time differs, and their content was not compared.`,
        ]
      : []),
    table(lines),
    ...(total > shown.length ? [`... and ${total - shown.length} more; --json has the first 1000.`] : []),
  ].join("\n");
}
