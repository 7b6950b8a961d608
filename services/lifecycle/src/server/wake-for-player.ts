import type { Handler } from "@svc/mesh";
import { auditActor } from "@svc/mesh";
import { accounts } from "@svc/proto";
import { hasRight } from "../access/assert.ts";
import type { ServerRow } from "../database/server-row.ts";
import { type contracts, findByAnyName, type ServerDeps } from "./deps.ts";
import { startServer } from "./start.ts";
import { decideWake } from "./wake-policy.ts";

type Contract = typeof contracts.wakeForPlayer;

export const wakeForPlayer =
  (deps: ServerDeps): Handler<Contract> =>
  async (context, { name, mc_uuid }) => {
    const server = await findByAnyName(deps, name);
    const row = await deps.store.find(name);
    await checkPolicy(deps, context, { server, row, player: mc_uuid });
    const refuse = context.fault;
    const audit = {
      ...auditActor(context),
      action: "server.wake",
      server_name: name,
      payload: { mc_uuid },
    };
    const request = { server, row, mayRetry: false, auditOf: () => audit, refuse };
    const { server: now } = await startServer(deps, request);
    const phase = now.status?.phase ?? "Unknown";
    return { name, desiredState: "Running", phase, ready: phase === "Running" && now.status?.ready === true };
  };

async function checkPolicy(
  deps: ServerDeps,
  context: Parameters<Handler<Contract>>[0],
  about: {
    server: Parameters<typeof decideWake>[0];
    row: ServerRow | undefined;
    player: string;
  },
): Promise<void> {
  const { server, row, player } = about;
  const { name } = server.metadata;
  // A public server needs no account lookup, so it wakes also while identity is away.
  if (server.spec.autostartPolicy === "public") return;
  const { account } = await deps.mesh.call(accounts.findLink, { mc_uuid: player }, context);
  const isStaff = account?.role === "admin" || account?.role === "owner";
  const hasPower = account !== null && hasRight(account.user_id, { name, row }, "power");
  const answer = decideWake(server, { isStaff, hasPower });
  if (answer === "allowed") return;
  if (answer === "check-allowlist" && (await deps.store.isAllowed(name, [player]))) return;
  throw context.fault("forbidden", { message: "You may not wake this server; ask its owner." });
}
