import type { Handler } from "@svc/mesh";
import { quotas } from "@svc/proto";
import type { contracts, OwnershipDeps } from "./deps.ts";

export const readMyQuota =
  ({ mesh, ownership, settings }: OwnershipDeps): Handler<typeof contracts.readMyQuota> =>
  async (context) => {
    const { principal } = context;
    if (principal.kind !== "account") throw context.fault("forbidden");
    const [{ limits }, used] = await Promise.all([
      mesh.call(quotas.readLimits, { user_id: principal.user_id }, context),
      ownership.usage(principal.user_id),
    ]);
    return {
      limits,
      used: {
        servers: used.servers,
        cpu_milli: used.cpuMilli,
        memory_mb: used.memoryMb,
        storage_mb: used.storageMb,
      },
      idle_stop: {
        min_seconds: settings.owner_idle_min / 1_000,
        max_seconds: settings.owner_idle_max / 1_000,
        may_be_off: settings.owner_idle_off,
      },
    };
  };
