import type { Handler } from "@svc/mesh";
import { schedules as contracts } from "@svc/proto";

import { idOf, noSchedule, saverOf, withAccess } from "./authorize.ts";
import type { ScheduleDeps } from "./deps.ts";
import { toScheduleView } from "./row.ts";
import { auditOf, toSavedSchedule } from "./save-schedule.ts";

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
        const saved = toSavedSchedule(input, at);
        check(saved);
        if (before.run_state !== "") throw context.fault("schedule_running");
        const after = await server.update(before, saved, { at, by: saverOf(context, server) });
        await server.audit(auditOf(context, "schedule.update", after));
        await server.announce(after.id, at);
        return after;
      },
    );
    return toScheduleView(row);
  };
