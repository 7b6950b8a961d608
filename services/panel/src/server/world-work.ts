import type { Output } from "../api/operations.ts";
import type { Job } from "../jobs/job.ts";

type Op = Pick<Output<"files.listOperations">["ops"][number], "op" | "state" | "started_at">;

/** What keeps a world to itself, where it is shown, who began it and when. */
export type WorldWork = {
  what: Job["kind"] | Op["op"];
  page: "backups" | "files";
  since: string | undefined;
  by?: NonNullable<Job["by"]>;
};

/** The work that holds the world's lock; a download of a backup reads the archive alone (docs/reference/world-lock.md#lock). */
export function decideWorldWork(jobs: readonly Job[], ops: readonly Op[]): WorldWork | undefined {
  const job = jobs.find(({ state, kind }) => state === "running" && kind !== "export_backup");
  if (job) {
    const { kind: what, started_at: since, by } = job;
    return { what, page: "backups", since, ...(by && { by }) };
  }
  const op = ops.find(({ state }) => state === "running");
  return op && { what: op.op, page: "files", since: op.started_at };
}
