import { Fault, type Principal } from "@svc/proto";
import type { TransferDeps } from "../file/deps.ts";
import { hashOf, idOf } from "./secret.ts";
import type { Entry } from "./state.ts";

/** The export of a ticket; one of another person is as unknown as one that never was: `not_found`. */
export async function findByTicket(deps: TransferDeps, principal: Principal, ticket: string): Promise<Entry> {
  const entry = /^[0-9a-f]{64}$/.test(ticket) ? await deps.exports.get(idOf(ticket)) : undefined;
  const isTheirs = principal.kind === "account" && entry?.value.user_id === principal.user_id;
  if (entry && isTheirs && entry.value.ticket_hash === hashOf(ticket)) return entry;
  throw new Fault("not_found", { message: "There is no such download; start it again." });
}
