// `svc reaper`: one run of the daily batch, from start to end (docs/reference/reaper.md#order). A Job of the cluster calls it as well.

import { reapers } from "@svc/proto";
import { poll, withMesh } from "../backup/with-mesh.ts";
import type { Outcome } from "../output.ts";

export type ReaperOptions = { data: string; retentionOnly?: boolean };

/** Starts a run or joins the current one and waits for its end; exit code 1 when somebody should look. */
export async function runReaper({ data, retentionOnly = false }: ReaperOptions): Promise<Outcome> {
  return withMesh(data, async (mesh) => {
    const about = { retention_only: retentionOnly, started_by: "operator" };
    const { id } = await mesh.call(reapers.startReaper, about);
    const run = await poll(async () => {
      const now = await mesh.call(reapers.readReaper, { id });
      return now.state === "running" ? undefined : now;
    });
    const failed = run.message === undefined ? [] : [`the run failed: ${run.message}`];
    const text = [...run.notes, ...failed, run.line].join("\n");
    return { json: run, text, exitCode: run.state === "succeeded" ? 0 : 1 };
  });
}
