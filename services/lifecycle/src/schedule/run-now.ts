import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import type { schedules as contracts } from "@svc/proto";

import { checkAccess, idOf, noSchedule } from "./authorize.ts";
import type { ScheduleDeps } from "./deps.ts";
import { toScheduleView } from "./row.ts";
import { auditPayload } from "./save-schedule.ts";
import type { Scheduler } from "./scheduler.ts";

/** What was begun goes on whether or not the caller is still there. */
export const runNow =
  (deps: ScheduleDeps, scheduler: Pick<Scheduler, "begin">): Handler<typeof contracts.runNow> =>
  async (context, { name, id }) => {
    const { schedules } = deps;
    await checkAccess(deps, context, name);
    const found = await schedules.find(name, idOf(id));
    if (!found) throw context.fault("not_found", noSchedule);
    if (found.row.run_state !== "") throw context.fault("schedule_running");
    if (found.owner !== found.row.owner_id) throw context.fault("schedule_stale");
    const claimed = await schedules.claimNow(found.row, new Date(deps.now()));
    // Between the look and the claim somebody took it or saved it.
    if (!claimed) throw context.fault("schedule_running");
    const about = { ...auditActor(context), server_name: name, payload: auditPayload(claimed) };
    deps.mesh.audit({ ...about, action: "schedule.run_now" });
    await scheduler.begin({ ...found, row: claimed });
    return toScheduleView((await schedules.find(name, claimed.id))?.row ?? claimed);
  };
