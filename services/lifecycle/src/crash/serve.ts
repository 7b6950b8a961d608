import type { Context, Handler, Mesh } from "@svc/mesh";
import { type AnyContract, crashes as contracts, restartPolicies as policies } from "@svc/proto";
import { assertAccess } from "../access/assert.ts";
import type { LifecycleStore } from "../database/schema.ts";
import { callerOf } from "../ownership/caller.ts";
import { createOwnershipStore, type OwnershipStore } from "../ownership/store.ts";
import { findByUserName, type ServerDeps } from "../server/deps.ts";
import { readPolicy, writePolicy } from "./policy.ts";
import { type CrashRow, type CrashStore, createCrashStore } from "./store.ts";

type CrashDeps = ServerDeps & { crashes: CrashStore; ownership: Pick<OwnershipStore, "claimedAt"> };

const mebibyte = 2 ** 20;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function serveCrashes(mesh: Mesh, server: ServerDeps, database: LifecycleStore): void {
  const deps = {
    ...server,
    crashes: createCrashStore(database, server.settings.crash_mail_pause),
    ownership: createOwnershipStore(database),
  };
  mesh.serve(contracts.list, list(deps));
  mesh.serve(contracts.read, read(deps));
  mesh.serve(policies.read, readPolicy(deps));
  mesh.serve(policies.write, writePolicy(deps));
}

const list =
  (deps: CrashDeps): Handler<typeof contracts.list> =>
  async (context, { name }) => {
    const since = await readableSince(deps, context, { name, to: contracts.list });
    const rows = since === undefined ? [] : await deps.crashes.list(name, since);
    return { server: name, crashes: rows.map(viewOf) };
  };

const read =
  (deps: CrashDeps): Handler<typeof contracts.read> =>
  async (context, { name, id }) => {
    const since = await readableSince(deps, context, { name, to: contracts.read });
    const row = since !== undefined && uuid.test(id) ? await deps.crashes.find(name, id, since) : undefined;
    if (!row) throw context.fault("not_found", { message: "There is no such crash; old ones are deleted." });
    return { server: name, ...viewOf(row), lines: row.lines };
  };

/** From when on the caller may read; what was before the claim is somebody else's. Throws `forbidden`. */
async function readableSince(
  deps: CrashDeps,
  context: Pick<Context<AnyContract>, "principal">,
  { name, to }: { name: string; to: Pick<AnyContract, "http"> },
): Promise<Date | undefined> {
  await findByUserName(deps, name);
  const row = await deps.store.find(name);
  assertAccess(context, { name, row, to });
  return callerOf(context).isStaff ? new Date(0) : deps.ownership.claimedAt(name, row?.ownerId ?? "");
}

function viewOf(row: CrashRow): contracts.Crash {
  const { id, at, cause, detail, exit_code, exit_reason, ran_seconds, was_running } = row;
  return {
    id,
    at: at.toISOString(),
    // Another release may know causes that this one does not.
    cause: contracts.CrashCause.safeParse(cause).data ?? "unknown",
    ...(detail !== null && { detail }),
    ...(exit_code !== null && { exit_code }),
    ...(exit_reason !== null && { exit_reason }),
    ran_seconds,
    was_running,
    ...(row.memory_mib !== null && { memory_bytes: row.memory_mib * mebibyte }),
    ...(row.memory_limit_mib !== null && { memory_limit_bytes: row.memory_limit_mib * mebibyte }),
    ...(row.tps !== null && { tps: Math.round(row.tps * 10) / 10 }),
    ...(row.behind_ms !== null && { behind_ms: row.behind_ms }),
    ...(row.watchdog && { watchdog: true }),
  };
}
