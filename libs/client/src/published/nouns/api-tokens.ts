import { apiTokens as contracts } from "@svc/proto";

/** The token itself. */
export const apiTokens = { readOwn: contracts.readOwn };
