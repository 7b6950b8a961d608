import { restartPolicies as contracts } from "@svc/proto";

/** What svc does by itself when a server crashes or hangs. */
export const restartPolicies = {
  read: contracts.read,
  write: contracts.write,
};
