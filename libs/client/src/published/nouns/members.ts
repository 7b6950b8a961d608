import { members as contracts } from "@svc/proto";

/** What the token may do at servers that are shared with its account. */
export const members = {
  readMine: contracts.readMine,
};
