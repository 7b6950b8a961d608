import { drills as contracts } from "@svc/proto";

/** Proofs that a backup can be restored. */
export const drills = { begin: contracts.begin, list: contracts.list };
