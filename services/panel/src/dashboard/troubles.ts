// What is wrong with servers that sleep well: backups that cannot be restored and tasks that did not run. Pure.

import type { Output } from "../api/operations.ts";

type Backup = Pick<Output<"backups.list">["backups"][number], "server_name" | "created_at" | "corrupt">;
type Task = Pick<
  Output<"schedules.list">["schedules"][number],
  "server" | "enabled" | "action" | "label" | "last_result" | "last_run_at"
>;

export type Trouble =
  | { kind: "corrupt"; server: string; at: string; count: number }
  | {
      kind: "missed" | "failed";
      server: string;
      at: string | undefined;
      task: Pick<Task, "action" | "label">;
    };

/** One for the damaged backups of each server, with the newest of them, and one for each task whose last run went wrong. */
export function troublesOf(backups: readonly Backup[], tasks: readonly Task[]): Trouble[] {
  const corrupt = Map.groupBy(
    backups.filter((backup) => backup.corrupt),
    ({ server_name }) => server_name,
  );
  const damaged = [...corrupt].map(([server, found]): Trouble => {
    const [at = ""] = found
      .map(({ created_at }) => created_at)
      .sort()
      .reverse();
    return { kind: "corrupt", server, at, count: found.length };
  });
  const missed = tasks.flatMap(({ server, enabled, action, label, last_result, last_run_at }): Trouble[] => {
    if (!enabled || (last_result !== "missed" && last_result !== "failed")) return [];
    return [{ kind: last_result, server, at: last_run_at ?? undefined, task: { action, label } }];
  });
  return [...damaged, ...missed];
}
