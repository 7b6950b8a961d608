import type { Handler } from "@svc/mesh";
import type { exports } from "@svc/proto";
import type { ExportDeps } from "./deps.ts";
import { findByTicket } from "./find.ts";
import { reconcileExport } from "./reconcile.ts";

/** storage.export.read-status: notices a Job that died. */
export const readStatus =
  (deps: ExportDeps): Handler<typeof exports.readStatus> =>
  async (context, { ticket }) => {
    const found = await findByTicket(deps, context.principal, ticket);
    const { state, message, code } = await reconcileExport(deps, found);
    if (state === "streaming" || state === "spent") throw context.fault("export_expired");
    if (state !== "failed" || message === undefined) return { state };
    return { state, message, ...(code && { code }) };
  };
