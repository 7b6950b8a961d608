import { servers as contracts } from "@svc/proto";

/** Status, wake, stop and restart. */
export const servers = {
  viewStatus: contracts.viewStatus,
  wake: contracts.wake,
  stop: contracts.stop,
  restart: contracts.restart,
};
