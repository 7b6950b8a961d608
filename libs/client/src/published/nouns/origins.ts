import { origins as contracts } from "@svc/proto";

/** Where the worlds of clones come from. */
export const origins = { read: contracts.read };
