import type { Context, Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { accounts, askedBy, decideAccess, type FaultOptions } from "@svc/proto";
import type { Server } from "../cluster/resource.ts";
import { type ServerRow, sharedOf } from "../database/server-row.ts";
import { contracts, findByUserName, type ServerDeps } from "./deps.ts";
import { startServer } from "./start.ts";
import { decideWake } from "./wake-policy.ts";

type Contract = typeof contracts.wake;

export const wake =
  (deps: ServerDeps): Handler<Contract> =>
  async (context, { name, insist }) => {
    const server = await findByUserName(deps, name);
    const row = await deps.store.find(name);
    await checkPolicy(deps, context, { server, row });
    const ignoresWindow = insist === "true";
    const { principal } = context;
    if (ignoresWindow && !(principal.kind === "account" && principal.staff))
      throw context.fault("forbidden", { message: "Only staff may wake a server during maintenance." });
    const refuse = context.fault as (fault: string, options?: FaultOptions) => Error;
    const auditOf = (change: "woken" | "retried") => {
      const action = change === "retried" ? "retry_start" : "server.wake";
      return { ...auditActor(context), action, server_name: name };
    };
    await startServer(deps, { server, row, mayRetry: true, ignoresWindow, auditOf, refuse });
    return { name, desiredState: "Running" };
  };

async function checkPolicy(
  deps: ServerDeps,
  context: Context<Contract>,
  { server, row }: { server: Server; row: ServerRow | undefined },
): Promise<void> {
  const { principal } = context;
  if (principal.kind !== "account") throw context.fault("forbidden");
  const { name } = server.metadata;
  const asked = { ...askedBy(contracts.wake), now: Date.now() };
  const hasPower = decideAccess(principal, sharedOf(name, row), asked).isAllowed;
  const answer = decideWake(server, { isStaff: principal.staff, hasPower });
  if (answer === "allowed") return;
  if (answer === "check-allowlist") {
    const { mc_uuids } = await deps.mesh.call(accounts.listLinks, { user_id: principal.user_id }, context);
    if (await deps.store.isAllowed(name, mc_uuids)) return;
  }
  throw context.fault("forbidden", { message: "You may not wake this server; ask its owner." });
}
