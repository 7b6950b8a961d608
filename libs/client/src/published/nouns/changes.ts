import { changes as contracts } from "@svc/proto";
import { events } from "../marked.ts";

/** One stream of what changes at the caller's servers. */
export const changes = { watch: events(contracts.watch) };
