import type { Handler } from "@svc/mesh";
import type { exports } from "@svc/proto";
import type { ExportDeps } from "./deps.ts";
import { findByTicket } from "./find.ts";
import { openTicket } from "./secret.ts";
import { transition } from "./state.ts";

/** storage.export.download: the first request spends the ticket; the bytes come from the replica that holds the Job's PUT. */
export const download =
  (deps: ExportDeps): Handler<typeof exports.download> =>
  async (context, { ticket }) => {
    const entry = await findByTicket(deps, context.principal, ticket);
    const { state, lane } = entry.value;
    if (state === "pending") throw context.fault("export_not_ready");
    if (state !== "ready" || lane === undefined) throw context.fault("export_expired");
    if (!(await transition(deps, entry, { state: "streaming" }))) throw context.fault("export_expired");
    context.reply.byteTransfer = openTicket(ticket, lane);
    return null;
  };
