import { histories as contracts } from "@svc/proto";

/** What servers did over the last 30 days. */
export const histories = { readServer: contracts.readServer };
