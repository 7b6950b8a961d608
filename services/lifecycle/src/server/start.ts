// The part that all wakes share, after the policy: cooldown, capacity, state, and the change itself.

import { isKubeError } from "@svc/kube";
import { type FaultOptions, shortMoment } from "@svc/proto";
import { findHolder } from "@svc/world-lock";
import { stoppedByPerson } from "../cluster/kept-awake.ts";
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
import { hasCapacity, isAwake, type Obstacle, obstacleOf } from "./wake-policy.ts";

type Refusal = Obstacle | "maintenance_window" | "cooldown" | "at_capacity" | "not_found";

type StartRequest = {
  server: Server;
  row: ServerRow | undefined;
  /** Retries a Failed server that wants to run; a joining player never does. */
  mayRetry: boolean;
  /** A scheduled start neither respects nor starts the cooldown (docs/reference/schedules.md#run). */
  isScheduled?: boolean;
  /**
   * Whether a maintenance window keeps it from starting: not when staff insist, nor when the server ran until whoever asks
   * stopped it for a while (docs/reference/announcements.md#maintenance).
   */
  ignoresWindow?: boolean;
  /** Written on the object together with the start. */
  annotations?: Record<string, string>;
  /** The audit entry of the start; none for a scheduled one, whose run has its own. */
  auditOf?: (change: "woken" | "retried") => Audit;
  refuse: (fault: Refusal, options?: FaultOptions) => Error;
};

type Started = { server: Server; change: "none" | "woken" | "retried" };
type Changed = Started & { changeId?: string };

const conflictTries = 5;

/**
 * Sets a server's desired state to Running; one that is already starting or running stays as it is. The cooldown is
 * recorded only after a wake (docs/reference/wake.md#checks), so a replica that dies half-way leaves none behind; of many concurrent
 * wakes the object's version admits one.
 */
export async function startServer(deps: ServerDeps, request: StartRequest): Promise<Started> {
  const isOnItsWay = isAlreadyStarting(deps, request, request.server) && !request.row?.retiring;
  // Before the cooldown, so that nobody waits for its end only to be refused.
  if (!isOnItsWay) await checkWindow(deps, request);
  if (hasCooldown(request)) await checkCooldown(deps, request);
  if (isOnItsWay) return { server: request.server, change: "none" };
  const release = reserveCapacity(deps, request);
  try {
    await checkState(deps, request, request.server);
    const started = await change(deps, request);
    if (started.change !== "none") await confirm(deps, request, started);
    return started;
  } finally {
    release();
  }
}

function reserveCapacity(
  { servers, settings, waking }: ServerDeps,
  { server, refuse }: StartRequest,
): () => void {
  const { name } = server.metadata;
  const about = { name, reserved: waking.names };
  if (!wantsToRun(server) && !hasCapacity(servers.list, settings.max_running_servers, about)) {
    throw refuse("at_capacity");
  }
  return waking.reserve(name);
}

// A retirement requested during the wake wins: the server stays stopped until the reaper has come (docs/reference/claims.md#retirement).
async function confirm(deps: ServerDeps, request: StartRequest, changed: Changed): Promise<void> {
  const { server, changeId } = changed;
  const { name } = server.metadata;
  const isRetiring = await deps.store
    .recordWake(name, { startsCooldown: hasCooldown(request), change: changeId })
    // The server was woken; a database lost in the meantime costs the cooldown, and the sweep settles the audit entry.
    .catch(() => false);
  if (!isRetiring) return;
  const merge = { spec: stoppedByPerson };
  deps.servers.remember(await deps.kube.patch(resource, { name, namespace: namespaceOf(server) }, { merge }));
  throw request.refuse("server_retiring");
}

// A joining player cannot speed up a failed start that will be retried automatically.
function isAlreadyStarting({ settings }: ServerDeps, { mayRetry }: StartRequest, server: Server): boolean {
  return isAwake(server) || (!mayRetry && wantsToRun(server) && !hasGivenUp(server, settings.auto_restarts));
}

// Cancelling a stop starts nothing, and the notice to the players may be over before a cooldown is.
function hasCooldown({ isScheduled, server }: StartRequest): boolean {
  return !isScheduled && !cancelsStop(server);
}

function cancelsStop({ spec, status }: Server): boolean {
  return status?.phase === "Running" && status.stopNoticeAt !== undefined && spec.desiredState !== "Running";
}

async function checkWindow({ store }: ServerDeps, request: StartRequest): Promise<void> {
  if (request.ignoresWindow || cancelsStop(request.server)) return;
  const window = await store.findWindow(new Date());
  if (!window) return;
  const message = `Maintenance until ${shortMoment(window.ends_at)}, nothing is woken until then: ${window.text_en}`;
  throw request.refuse("maintenance_window", { message });
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
    // Somebody changed it in the meantime: check the current version again.
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
  { auditOf, annotations: marks }: StartRequest,
  server: Server,
): Promise<Changed> {
  const isRetry = wantsToRun(server);
  const { name, resourceVersion, annotations } = server.metadata;
  // Already requested; the operator has not handled it yet.
  if (isRetry && annotations?.[annotation.startRetry] !== undefined) return { server, change: "none" };
  const merge = isRetry
    ? {
        metadata: {
          resourceVersion,
          annotations: { ...marks, [annotation.startRetry]: new Date().toISOString() },
        },
      }
    : {
        metadata: { resourceVersion, ...(marks && { annotations: marks }) },
        spec: { desiredState: "Running" },
      };
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
