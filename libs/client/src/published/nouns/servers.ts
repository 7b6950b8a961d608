import { servers as contracts } from "@svc/proto";

/** Status, wake and stop. */
export const servers = {
  viewStatus: contracts.viewStatus,
  wake: contracts.wake,
  stop: contracts.stop,
};
