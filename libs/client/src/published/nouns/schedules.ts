import { schedules as contracts } from "@svc/proto";

/** Tasks by the clock. */
export const schedules = {
  list: contracts.list,
  create: contracts.create,
  update: contracts.update,
  remove: contracts.remove,
  runNow: contracts.runNow,
};
