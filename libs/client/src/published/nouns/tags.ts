import { tags as contracts } from "@svc/proto";

/** Words by which people find servers again. */
export const tags = { write: contracts.write };
