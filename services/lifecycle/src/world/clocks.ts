import type { Handler } from "@svc/mesh";
import type { contracts, WorldDeps } from "./deps.ts";

export const stampWarning =
  ({ worlds }: WorldDeps): Handler<typeof contracts.stampWarning> =>
  async (context, { name, window, at }) => {
    if (!(await worlds.stampWarning(name, window, new Date(at)))) throw context.fault("not_found");
    return null;
  };

export const restartIdleClock =
  ({ worlds }: WorldDeps): Handler<typeof contracts.restartIdleClock> =>
  async (context, { name }) => {
    if (!(await worlds.restartIdleClock(name))) throw context.fault("not_found");
    return null;
  };
