import type { Handler } from "@svc/mesh";
import { schedules as contracts } from "@svc/proto";

import { idOf, noSchedule, withAccess } from "./authorize.ts";
import type { ScheduleDeps } from "./deps.ts";
import { isBusy } from "./row.ts";
import { auditOf } from "./save-schedule.ts";

export const remove =
  (deps: ScheduleDeps): Handler<typeof contracts.remove> =>
  async (context, { name, id }) => {
    await withAccess(deps, { caller: context, name, to: contracts.remove }, async (server) => {
      const before = await server.find(idOf(id));
      if (!before) throw context.fault("not_found", noSchedule);
      if (isBusy(before)) throw context.fault("schedule_running");
      await server.endWaiting(before, new Date(deps.now()));
      await server.remove(before);
      await server.audit(auditOf(context, "schedule.delete", before));
      await server.announce(before.id, new Date(deps.now()));
    });
    return null;
  };
