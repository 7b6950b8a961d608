// `svc update`: what could be updated, and how (docs/reference/updates.md#report).

import type { updates } from "@svc/proto";
import { databaseVariables } from "../database/environment.ts";
import { askWatchdog } from "../database/watchdog.ts";
import { type Outcome, table } from "../output.ts";

type Checked = {
  report: updates.UpdateCheck;
  window: updates.UpdateWindow | null;
  steps: Record<string, readonly string[]>;
  recorded: boolean;
};

export async function checkUpdates(options: {
  data: string;
  record: boolean;
  chosen: readonly string[];
}): Promise<Outcome> {
  const { data, record, chosen } = options;
  const checked = await askWatchdog<Checked>(databaseVariables(data), { do: "check-updates", record });
  const { report, window, steps } = checked;
  const rows = report.components.map((one) => [
    one.name,
    one.state,
    one.current ?? "",
    one.latest ?? "",
    one.error ?? one.note ?? "",
  ]);
  const available = report.components.filter(({ state }) => state === "available").map(({ name }) => name);
  const plans = [...new Set([...available, ...chosen])].map((name) =>
    [`${name}:`, ...(steps[name] ?? []).map((step, index) => `  ${index + 1}. ${step}`)].join("\n"),
  );
  const text = [
    table([["COMPONENT", "STATE", "CURRENT", "LATEST", "NOTE"], ...rows]),
    ...plans,
    windowText(window, Date.now()),
    ...(record ? ["The report is stored."] : []),
  ].join("\n\n");
  return { json: checked, text };
}

/** `window` is null when it cannot be read. */
export function windowText(window: updates.UpdateWindow | null, now: number): string {
  if (window === null) return "The update window cannot be read: the database does not answer.";
  const { start, end } = window;
  if (start === null || end === null) return "No update window is set.";
  const span = `${start} to ${end}`;
  if (now < Date.parse(start)) return `The update window ${span} has not begun.`;
  return now < Date.parse(end)
    ? `Now is within the update window ${span}.`
    : `The update window ${span} is over.`;
}
