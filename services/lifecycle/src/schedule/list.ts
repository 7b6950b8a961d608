import type { Handler } from "@svc/mesh";
import { schedules as contracts } from "@svc/proto";
import { checkAccess } from "./authorize.ts";
import type { ScheduleDeps } from "./deps.ts";
import { toScheduleView, toTriggerView } from "./row.ts";

export const list =
  (deps: ScheduleDeps): Handler<typeof contracts.list> =>
  async (context, { name }) => {
    await checkAccess(deps, context, { name, to: contracts.list });
    const rows = await deps.schedules.list(name);
    const events = await deps.triggers.list(name);
    const schedules = rows.map((row) => {
      const own = events.filter(({ schedule_id }) => schedule_id === row.id);
      return { ...toScheduleView(row), ...(own.length > 0 && { trigger_events: own.map(toTriggerView) }) };
    });
    return { server: name, schedules, limit: deps.settings.schedule_limit };
  };
