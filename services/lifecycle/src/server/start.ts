// The common part of both wakes, after the policy: cooldown, capacity, state, and the change itself.

import { isKubeError } from "@svc/kube";
import type { FaultOptions } from "@svc/proto";
import { findHolder } from "@svc/world-lock";
import {
  annotation,
  namespaceOf,
  servers as resource,
  type Server,
  wantsToRun,
} from "../cluster/resource.ts";
import type { Audit } from "../database/audit.ts";
import type { ServerRow } from "../database/server-row.ts";
import { admitChange } from "./audited-change.ts";
import type { ServerDeps } from "./deps.ts";
import { hasGivenUp } from "./info.ts";
import { hasRoom, isAwake, type Obstacle, obstacleOf } from "./wake-policy.ts";

type Refusal = Obstacle | "cooldown" | "at_capacity" | "not_found";

export type StartRequest = {
  server: Server;
  row: ServerRow | undefined;
  /** A Failed server that wants to run is tried again; a player joining never does that. */
  mayRetry: boolean;
  /** A scheduled start neither waits for the cooldown nor begins one (behaviour.md i.3). */
  isScheduled?: boolean;
  /** The audit entry of the start; none for a scheduled one, whose run has its own. */
  auditOf?: (change: "woken" | "retried") => Audit;
  refuse: (fault: Refusal, options?: FaultOptions) => Error;
};

export type Started = { server: Server; change: "none" | "woken" | "retried" };
type Changed = Started & { changeId?: string };

const conflictTries = 5;

/**
 * Makes a server want to run; one that does already is left as it is once the cooldown is over. The cooldown is
 * recorded only when a wake came about (behaviour.md f), so a replica that dies half-way leaves none behind; of many
 * wakes at once the object's version lets one through.
 */
export async function startServer(deps: ServerDeps, request: StartRequest): Promise<Started> {
  if (!request.isScheduled) await checkCooldown(deps, request);
  if (isAlreadyStarting(deps, request, request.server) && !request.row?.retiring) {
    return { server: request.server, change: "none" };
  }
  const leave = enter(deps, request);
  try {
    await checkState(deps, request, request.server);
    const started = await change(deps, request);
    if (started.change !== "none") await confirm(deps, request, started);
    return started;
  } finally {
    leave();
  }
}

// Servers that were let in and may not want to run in our copy yet: many wakes at once must not pass the cap together.
const entered = new WeakMap<ServerDeps["servers"], Map<string, number>>();

function enter({ servers, settings }: ServerDeps, { server, refuse }: StartRequest): () => void {
  const { name } = server.metadata;
  const inside = entered.get(servers) ?? new Map<string, number>();
  entered.set(servers, inside);
  if (!wantsToRun(server) && !hasRoom(servers.list, settings.max_running_servers, { name, inside })) {
    throw refuse("at_capacity");
  }
  inside.set(name, (inside.get(name) ?? 0) + 1);
  return () => {
    const left = (inside.get(name) ?? 1) - 1;
    if (left > 0) inside.set(name, left);
    else inside.delete(name);
  };
}

// A give-up that was asked for while we woke the server wins: it stays stopped until the reaper came (interface.md 2.5).
async function confirm(deps: ServerDeps, request: StartRequest, changed: Changed): Promise<void> {
  const { server, changeId } = changed;
  const { name } = server.metadata;
  const isRetiring = await deps.store
    .recordWake(name, { startsCooldown: !request.isScheduled, change: changeId })
    // The server was woken; a database lost in the meantime costs the cooldown, and the sweep settles the audit entry.
    .catch(() => false);
  if (!isRetiring) return;
  const merge = { spec: { desiredState: "Stopped" } };
  deps.servers.remember(await deps.kube.patch(resource, { name, namespace: namespaceOf(server) }, { merge }));
  throw request.refuse("server_retiring");
}

// A failed start that will be tried again by itself is nothing that a joining player could hurry.
function isAlreadyStarting({ settings }: ServerDeps, { mayRetry }: StartRequest, server: Server): boolean {
  return isAwake(server) || (!mayRetry && wantsToRun(server) && !hasGivenUp(server, settings.auto_restarts));
}

async function checkCooldown({ store, settings }: ServerDeps, request: StartRequest): Promise<void> {
  const left = await store.cooldownLeft(request.server.metadata.name, settings.wake_cooldown);
  if (left > 0) throw cooldown(request, left);
}

function cooldown({ refuse }: StartRequest, leftMs: number): Error {
  return refuse("cooldown", { retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1_000)) });
}

async function checkState(deps: ServerDeps, request: StartRequest, server: Server): Promise<void> {
  const { settings, kube } = deps;
  const holder = await findHolder(kube, server, { now: Date.now(), ttlMs: settings.maintenance_lock });
  const obstacle = obstacleOf(server, request.row, {
    holder: holder?.kind,
    autoRestarts: settings.auto_restarts,
  });
  if (obstacle === undefined || (obstacle === "start_failed" && request.mayRetry)) return;
  throw request.refuse(obstacle);
}

async function change(deps: ServerDeps, request: StartRequest): Promise<Changed> {
  let { server } = request;
  for (let left = conflictTries; ; left--) {
    try {
      return await changeOnce(deps, request, server);
    } catch (error) {
      if (!isKubeError(error, 409) || left === 0) throw error;
    }
    // Somebody changed it meanwhile: what was checked is checked again on what it is now.
    const target = { name: server.metadata.name, namespace: namespaceOf(server) };
    const now = await deps.kube.find(resource, target);
    if (!now) throw request.refuse("not_found");
    server = now;
    if (isAlreadyStarting(deps, request, server)) return { server, change: "none" };
    await checkState(deps, request, server);
  }
}

async function changeOnce(
  { kube, servers, store }: ServerDeps,
  { auditOf }: StartRequest,
  server: Server,
): Promise<Changed> {
  const isRetry = wantsToRun(server);
  const { name, resourceVersion, annotations } = server.metadata;
  // Somebody asked for it already and the operator has not come to it yet.
  if (isRetry && annotations?.[annotation.startRetry] !== undefined) return { server, change: "none" };
  const merge = isRetry
    ? { metadata: { resourceVersion, annotations: { [annotation.startRetry]: new Date().toISOString() } } }
    : { metadata: { resourceVersion }, spec: { desiredState: "Running" } };
  const change = isRetry ? "retried" : "woken";
  const patch = async () => {
    const patched = await kube.patch(resource, { name, namespace: namespaceOf(server) }, { merge });
    servers.remember(patched);
    return patched;
  };
  if (auditOf) {
    const { id, result } = await admitChange(store.audits, auditOf(change), patch);
    return { server: result, change, changeId: id };
  }
  await store.claimRequest();
  return { server: await patch(), change };
}
