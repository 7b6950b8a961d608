import type { Handler } from "@svc/mesh";
import { schedules as contracts } from "@svc/proto";

import { checkAccess, checkSteps, idOf, noSchedule } from "./authorize.ts";
import type { ScheduleDeps } from "./deps.ts";
import { type ScheduleRow, toScheduleView } from "./row.ts";
import { auditOf } from "./save-schedule.ts";
import type { Scheduler } from "./scheduler.ts";

/** A run that was started continues when the caller has left. */
export const runNow =
  (deps: ScheduleDeps, scheduler: Pick<Scheduler, "start">): Handler<typeof contracts.runNow> =>
  async (context, { name, id }) => {
    const { schedules } = deps;
    const check = await checkAccess(deps, context, { name, to: contracts.runNow });
    const found = await schedules.find(name, idOf(id));
    if (!found) throw context.fault("not_found", noSchedule);
    checkSteps(check, found.row);
    if (found.row.run_state !== "") throw context.fault("schedule_running");
    if (found.owner !== found.row.owner_id) throw context.fault("schedule_stale");
    const at = new Date(deps.now());
    const auditRun = (row: ScheduleRow) => auditOf(context, "schedule.run_now", row);
    const claimed = await schedules.claimNow(found.row, at, auditRun);
    // Somebody claimed or saved it in the meantime.
    if (!claimed) throw context.fault("schedule_running");
    await scheduler.start({ ...found, row: claimed });
    return toScheduleView((await schedules.find(name, claimed.id))?.row ?? claimed);
  };
