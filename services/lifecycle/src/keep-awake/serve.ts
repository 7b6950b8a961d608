// Keeping servers from their idle stop, which their objects carry (docs/reference/server-states.md#keep-awake).

import { auditActor, type Context, type Handler, type Mesh } from "@svc/mesh";
import { keepAwakes as contracts, Fault } from "@svc/proto";
import { createSemaphore } from "@svc/service/semaphore";
import { assertAccess } from "../access/assert.ts";
import { assertKept } from "../cluster/definition.ts";
import { keptAwakeUntil } from "../cluster/kept-awake.ts";
import { namespaceOf, servers as resource, type Server } from "../cluster/resource.ts";
import type { LifecycleStore } from "../database/schema.ts";
import type { ServerRow } from "../database/server-row.ts";
import { changeAudited } from "../server/audited-change.ts";
import { findByUserName, type ServerDeps } from "../server/deps.ts";
import { isKeptAwake, refusalOfKeepAwake } from "./policy.ts";
import { createOwnedStore, type OwnedStore } from "./store.ts";

type KeepAwakeDeps = ServerDeps & {
  owned: OwnedStore;
  /** Each holds a connection of the database while it asks the cluster. */
  limit: <T>(work: () => Promise<T>) => Promise<T>;
};

type Write = Context<typeof contracts.write>;
type Wanted = { name: string; until: string };

export function serveKeepAwake(mesh: Pick<Mesh, "serve">, servers: ServerDeps, database: LifecycleStore) {
  const limit = createSemaphore(servers.settings.max_claims).run;
  const deps: KeepAwakeDeps = { ...servers, owned: createOwnedStore(database), limit };
  mesh.serve(contracts.read, read(deps));
  mesh.serve(contracts.write, write(deps));
  mesh.serve(contracts.end, end(deps));
}

const read =
  (deps: KeepAwakeDeps): Handler<typeof contracts.read> =>
  async (context, { name }) => {
    const server = await findByUserName(deps, name);
    const row = await deps.store.find(name);
    assertAccess(context, { name, row, to: contracts.read });
    const { settings, servers } = deps;
    const names = row?.ownerId === undefined ? [name] : await deps.owned.namesOf(row.ownerId);
    const isKept = (one: Server | undefined) => one !== undefined && isKeptAwake(one, Date.now(), settings);
    const until = keptAwakeUntil(server, settings.keep_awake_longest);
    return {
      ...(isKept(server) && until !== undefined && { until: new Date(until).toISOString() }),
      longest_seconds: settings.keep_awake_longest / 1_000,
      servers_kept: names.filter((one) => isKept(servers.get(one))).length,
      servers_limit: settings.keep_awake_servers,
    };
  };

const write =
  (deps: KeepAwakeDeps): Handler<typeof contracts.write> =>
  async (context, wanted) => {
    const { name } = wanted;
    await findByUserName(deps, name);
    const row = await deps.store.find(name);
    const as = assertAccess(context, { name, row, to: contracts.write });
    const ownerId = row?.ownerId;
    // Operators are not counted, as they are not when they change the idle stop itself.
    const isCounted = as !== "staff" && !isStaff(context) && ownerId !== undefined;
    await deps.store.claimRequest();
    if (!isCounted) return keep(deps, context, { wanted, row, others: undefined });
    return deps.limit(() =>
      deps.owned.whileCounted({ name, ownerId }, async ({ row: now, owned }) => {
        // It may have been given away, and the caller's access taken, while others were counted.
        assertAccess(context, { name, row: now, to: contracts.write });
        if (now?.ownerId !== ownerId)
          throw new Fault("unavailable", { message: "The server changed its owner just now; try again." });
        const others = await countKept(
          deps,
          owned.filter((one) => one !== name),
        );
        return keep(deps, context, { wanted, row: now, others });
      }),
    );
  };

function isStaff({ principal }: Write): boolean {
  return principal.kind === "account" && principal.staff;
}

const readsAtOnce = 8;

// From the cluster itself: our copies may be older than what another replica has just written.
async function countKept(deps: KeepAwakeDeps, names: readonly string[]): Promise<number> {
  const { kube, namespace, settings } = deps;
  const { run } = createSemaphore(readsAtOnce);
  const found = await Promise.all(
    names.map((name) => run(() => kube.find(resource, { name, namespace }, { timeoutMs: 3_000 }))),
  );
  return found.filter((server) => server && isKeptAwake(server, Date.now(), settings)).length;
}

type Known = { wanted: Wanted; row: ServerRow | undefined; others: number | undefined };

async function keep(deps: KeepAwakeDeps, context: Write, { wanted, row, others }: Known) {
  const { name } = wanted;
  const server = await deps.kube.find(resource, { name, namespace: deps.namespace }, { timeoutMs: 3_000 });
  if (!server) throw context.fault("not_found");
  const now = Date.now();
  const until = new Date(wanted.until).toISOString();
  const refusal = refusalOfKeepAwake(server, now, {
    until: Date.parse(until),
    isRetiring: row?.retiring !== undefined,
    others,
    bounds: deps.settings,
  });
  if (refusal) throw context.fault(refusal.fault, refusal.options);
  const keptAwake = { since: new Date(now).toISOString(), until };
  const audit = {
    ...auditActor(context),
    action: "server.keep_awake",
    server_name: name,
    payload: { until },
  };
  const after = await changeAudited(deps.store.audits, audit, () => patch(deps, server, keptAwake));
  assertKept(after.spec.idle?.keptAwake !== undefined, "servers that are kept awake");
  return { name, until };
}

const end =
  (deps: KeepAwakeDeps): Handler<typeof contracts.end> =>
  async (context, { name }) => {
    const server = await findByUserName(deps, name);
    assertAccess(context, { name, row: await deps.store.find(name), to: contracts.end });
    const audit = { ...auditActor(context), action: "server.keep_awake_end", server_name: name };
    await changeAudited(deps.store.audits, audit, () => patch(deps, server, null));
    return null;
  };

async function patch(
  { kube, servers }: KeepAwakeDeps,
  server: Server,
  keptAwake: { since: string; until: string } | null,
): Promise<Server> {
  const target = { name: server.metadata.name, namespace: namespaceOf(server) };
  const after = await kube.patch(resource, target, { merge: { spec: { idle: { keptAwake } } } });
  servers.remember(after);
  return after;
}
