import type { Handler } from "@svc/mesh";
import { schedules as contracts } from "@svc/proto";
import { checkAccess } from "./authorize.ts";
import type { ScheduleDeps } from "./deps.ts";
import { toScheduleView } from "./row.ts";

export const list =
  (deps: ScheduleDeps): Handler<typeof contracts.list> =>
  async (context, { name }) => {
    await checkAccess(deps, context, { name, to: contracts.list });
    const rows = await deps.schedules.list(name);
    return { server: name, schedules: rows.map(toScheduleView), limit: deps.settings.schedule_limit };
  };
