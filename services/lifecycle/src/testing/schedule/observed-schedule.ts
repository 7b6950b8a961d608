// A default observation: a daily restart at 05:00 UTC of a server that is ready, a minute before it is due.

import type { Server } from "../../cluster/resource.ts";
import type { Observed } from "../../schedule/observed.ts";
import type { ScheduleRow } from "../../schedule/row.ts";
import { aServer, defaults, emptyRunning } from "../observed.ts";

export const due = Date.parse("2026-03-02T05:00:00.000Z");
export const minute = 60_000;
export const claimedAt = new Date(due + 5_000);

export function aRow(changes: Partial<ScheduleRow> = {}): ScheduleRow {
  const at = new Date(due - 24 * 60 * minute);
  return {
    id: 7,
    server_name: "survival",
    owner_id: "usr-1",
    label: "nightly",
    action: "restart",
    command: "",
    every_minutes: 0,
    minute_of_day: 300,
    weekdays: 127,
    timezone: "UTC",
    warn_minutes: 0,
    enabled: true,
    next_run_at: new Date(due),
    warned_for: null,
    run_state: "",
    run_resume: false,
    run_step_at: null,
    run_job: "",
    last_run_at: null,
    last_result: "",
    last_detail: "",
    last_code: "",
    last_cause: "",
    created_by: "owner",
    created_at: at,
    updated_at: at,
    saved_by: null,
    ...{
      only_if: "",
      next_steps: [],
      run_step: 0,
      run_waits: false,
      chain_code: "",
      step_endings: [],
      run_revoked: false,
      last_ok_at: null,
      ...{ trigger: "", trigger_minutes: 0, pause_minutes: 0 },
      ...{ last_trigger: null, last_fired_at: null, run_ended_at: null },
    },
    ...changes,
  };
}

/** A row of a run that entered its state `sinceMinutes` ago. */
export function aRun(changes: Partial<ScheduleRow>, sinceMinutes = 0): ScheduleRow {
  const stepAt = new Date(due + 60 * minute - sinceMinutes * minute);
  return aRow({ run_state: "claimed", run_step_at: stepAt, last_run_at: claimedAt, ...changes });
}

export const ready: Server = { ...aServer(), status: emptyRunning };
export const stopped: Server = { ...aServer({ desiredState: "Stopped" }), status: { phase: "Stopped" } };
export const stopping: Server = {
  ...aServer({ desiredState: "Stopped" }),
  status: { ...emptyRunning, phase: "Stopping" },
};
export const starting: Server = { ...aServer(), status: { phase: "Starting", ready: false } };
export const failed: Server = { ...aServer(), status: { phase: "Failed", ready: false } };

export function anObservedTask(changes: Partial<Observed> = {}): Observed {
  const isRun = changes.row !== undefined && changes.row.run_state !== "";
  const now = isRun ? due + 60 * minute : due - minute;
  return {
    row: aRow(),
    owner: "usr-1",
    lastPlayedAt: undefined,
    server: ready,
    now,
    settings: defaults,
    ...changes,
  };
}
