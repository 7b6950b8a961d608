import { auditActor, type Context, type Handler } from "@svc/mesh";
import { findByUserName } from "../server/deps.ts";
import { faultOfOwnIdle } from "../server/input.ts";
import { changeServer, fieldsOf } from "../server/patch.ts";
import { callerOf, isOwner } from "./caller.ts";
import type { contracts, OwnershipDeps } from "./deps.ts";

type Contract = typeof contracts.patchMine;

export const patchMine =
  (deps: OwnershipDeps): Handler<Contract> =>
  async (context, { name, ...input }) => {
    const known = await findByUserName(deps, name);
    if (!isOwner(await deps.store.find(name), callerOf(context))) {
      throw context.fault("forbidden", { message: "Only the owner of a server may change it here." });
    }
    const patched = fieldsOf(input);
    if (input.idleStopSeconds !== undefined) checkIdle(deps, context, input.idleStopSeconds);
    await changeServer(deps, auditActor(context), { known, input });
    return { name, patched };
  };

function checkIdle({ settings }: OwnershipDeps, context: Context<Contract>, seconds: number): void {
  const refusal = faultOfOwnIdle(seconds, settings);
  if (refusal) throw context.fault("bad_idle_stop", refusal.message ? { message: refusal.message } : {});
}
