import { auditActor, type Context, type Handler } from "@svc/mesh";
import { assertAccess } from "../access/assert.ts";
import { findByUserName } from "../server/deps.ts";
import { faultOfOwnIdle } from "../server/input.ts";
import { changeServer, fieldsOf } from "../server/patch.ts";
import { contracts, type OwnershipDeps } from "./deps.ts";

type Contract = typeof contracts.patchMine;

export const patchMine =
  (deps: OwnershipDeps): Handler<Contract> =>
  async (context, { name, ...input }) => {
    const known = await findByUserName(deps, name);
    const row = await deps.store.find(name);
    assertAccess(context, { name, row, to: contracts.patchMine, isClosedToStaff: true });
    const patched = fieldsOf(input);
    if (input.idleStopSeconds !== undefined) checkIdle(deps, context, input.idleStopSeconds);
    await changeServer(deps, auditActor(context), { known, input });
    return { name, patched };
  };

function checkIdle({ settings }: OwnershipDeps, context: Context<Contract>, seconds: number): void {
  const refusal = faultOfOwnIdle(seconds, settings);
  if (refusal) throw context.fault("bad_idle_stop", refusal.message ? { message: refusal.message } : {});
}
