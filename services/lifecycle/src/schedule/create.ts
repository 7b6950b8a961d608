import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { schedules as contracts } from "@svc/proto";

import { checkSteps, saverOf, withAccess } from "./authorize.ts";
import type { ScheduleDeps } from "./deps.ts";
import { toScheduleView } from "./row.ts";
import { auditOf, toSavedSchedule, watchFor } from "./save-schedule.ts";

export const create =
  (deps: ScheduleDeps): Handler<typeof contracts.create> =>
  async (context, { name, ...input }) => {
    const at = new Date(deps.now());
    const row = await withAccess(
      deps,
      { caller: context, name, to: contracts.create },
      async (server, check) => {
        const saved = toSavedSchedule(input, at);
        checkSteps(check, saved);
        if ((await server.count()) >= deps.settings.schedule_limit) throw context.fault("schedule_limit");
        const made = await server.insert(saved, {
          createdBy: auditActor(context).actor,
          at,
          by: saverOf(context, server),
        });
        await watchFor(deps, made, { server, at });
        await server.audit(auditOf(context, "schedule.create", made));
        await server.announce(made.id, at);
        return made;
      },
    );
    return toScheduleView(row);
  };
