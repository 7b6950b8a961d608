// What a user may own (docs/reference/claims.md#quota).

import type { Handler } from "@svc/mesh";
import { quotas } from "@svc/proto";
import { recordAudit } from "../audit/record.ts";
import type { Deps } from "../deps.ts";
import { getAccount } from "../principal.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { findQuota, saveQuota, unlimited } from "./store.ts";

const highest = 2_147_483_647;

export function serveQuotas(deps: ServiceDeps): void {
  deps.mesh.serve(quotas.read, createReadQuota(deps));
  deps.mesh.serve(quotas.write, createWriteQuota(deps));
  deps.mesh.serve(quotas.readLimits, createReadLimits(deps));
}

/** identity.quota.read */
function createReadQuota(deps: Deps): Handler<typeof quotas.read> {
  return async (context, { id }) => {
    const found = await findQuota(deps.db, id);
    if (!found) throw context.fault("not_found", { message: "User not found." });
    return { user_id: id, ...found.limits };
  };
}

/** identity.quota.write */
function createWriteQuota(deps: Deps): Handler<typeof quotas.write> {
  return async (context, { id, ...given }) => {
    const limits: quotas.Limits = {
      max_servers: given.max_servers ?? null,
      max_cpu_milli: given.max_cpu_milli ?? null,
      max_memory_mb: given.max_memory_mb ?? null,
      max_storage_gb: given.max_storage_gb ?? null,
    };
    const isInRange = (value: number | null) => value === null || (value >= 0 && value <= highest);
    if (!Object.values(limits).every(isInRange)) throw context.fault("invalid_quota");
    const by = getAccount(context.principal).user_id;
    await deps.db.transaction().execute(async (trx) => {
      if (!(await saveQuota(trx, { userId: id, limits, by })))
        throw context.fault("not_found", { message: "User not found." });
      await recordAudit(trx, context, { action: "quota.update", payload: { user_id: id, ...limits } });
    });
    return { user_id: id, ...limits };
  };
}

/** identity.quota.read-limits: an unknown user may not own anything. */
function createReadLimits(deps: Deps): Handler<typeof quotas.readLimits> {
  return async (_context, { user_id }) =>
    (await findQuota(deps.db, user_id)) ?? { limits: unlimited, active: false };
}
