import { crashes as contracts } from "@svc/proto";

/** Why the processes of a server ended. */
export const crashes = {
  list: contracts.list,
  read: contracts.read,
};
