import type { Handler } from "@svc/mesh";
import { schedules as contracts } from "@svc/proto";

import { checkSteps, idOf, noSchedule, saverOf, withAccess } from "./authorize.ts";
import type { ScheduleDeps } from "./deps.ts";
import { isBusy, toScheduleView } from "./row.ts";
import { auditOf, keptOf, toSavedSchedule, watchFor } from "./save-schedule.ts";

export const update =
  (deps: ScheduleDeps): Handler<typeof contracts.update> =>
  async (context, { name, id, ...input }) => {
    const at = new Date(deps.now());
    const row = await withAccess(
      deps,
      { caller: context, name, to: contracts.update },
      async (server, check) => {
        const before = await server.find(idOf(id));
        if (!before) throw context.fault("not_found", noSchedule);
        const saved = toSavedSchedule({ ...keptOf(before), ...input }, at);
        checkSteps(check, saved);
        if (isBusy(before)) throw context.fault("schedule_running");
        await server.endWaiting(before, at);
        const after = await server.update(before, saved, { at, by: saverOf(context, server) });
        await watchFor(deps, after, { server, at });
        await server.audit(auditOf(context, "schedule.update", after));
        await server.announce(after.id, at);
        return after;
      },
    );
    return toScheduleView(row);
  };
