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
import type { ServerDeps } from "./deps.ts";
import { hasGivenUp } from "./info.ts";
import type { ServerRow } from "./store.ts";
import { hasRoom, isAwake, type Obstacle, obstacleOf } from "./wake-policy.ts";

type Refusal = Obstacle | "cooldown" | "at_capacity" | "not_found";

export type StartRequest = {
  server: Server;
  row: ServerRow | undefined;
  /** A Failed server that wants to run is tried again; a player joining never does that. */
  mayRetry: boolean;
  /** A scheduled start neither waits for the cooldown nor begins one (behaviour.md i.3). */
  isScheduled?: boolean;
  refuse: (fault: Refusal, options?: FaultOptions) => Error;
};

export type Started = { server: Server; change: "none" | "woken" | "retried" };

const conflictTries = 5;

/** Makes a server want to run; one that does already is left as it is once the cooldown is over. The cooldown is recorded only when it comes about (behaviour.md f). */
export async function startServer(deps: ServerDeps, request: StartRequest): Promise<Started> {
  const { store, settings } = deps;
  const { name } = request.server.metadata;
  if (!request.isScheduled) await checkCooldown(deps, request);
  if (isOnItsWay(deps, request, request.server) && !request.row?.retiring) {
    return { server: request.server, change: "none" };
  }
  const isNew = !wantsToRun(request.server);
  if (isNew && !hasRoom(deps.servers.list(), settings.max_running_servers))
    throw request.refuse("at_capacity");
  await checkState(deps, request, request.server);
  if (request.isScheduled) return change(deps, request);
  const left = await store.takeWake(name, settings.wake_cooldown);
  if (left > 0) throw cooldown(request, left);
  try {
    return await change(deps, request);
  } catch (error) {
    await store.returnWake(name).catch(() => undefined);
    throw error;
  }
}

// A failed start that will be tried again by itself is nothing that a joining player could hurry.
function isOnItsWay({ settings }: ServerDeps, { mayRetry }: StartRequest, server: Server): boolean {
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

async function change(deps: ServerDeps, request: StartRequest): Promise<Started> {
  let { server } = request;
  for (let left = conflictTries; ; left--) {
    try {
      return await changeOnce(deps, server);
    } catch (error) {
      if (!isKubeError(error, 409) || left === 0) throw error;
    }
    // Somebody changed it meanwhile: what was checked is checked again on what it is now.
    const target = { name: server.metadata.name, namespace: namespaceOf(server) };
    const now = await deps.kube.find(resource, target);
    if (!now) throw request.refuse("not_found");
    server = now;
    if (isOnItsWay(deps, request, server)) return { server, change: "none" };
    await checkState(deps, request, server);
  }
}

async function changeOnce({ kube, servers }: ServerDeps, server: Server): Promise<Started> {
  const isRetry = wantsToRun(server);
  const { name, resourceVersion } = server.metadata;
  const merge = isRetry
    ? { metadata: { resourceVersion, annotations: { [annotation.startRetry]: new Date().toISOString() } } }
    : { metadata: { resourceVersion }, spec: { desiredState: "Running" } };
  const patched = await kube.patch(resource, { name, namespace: namespaceOf(server) }, { merge });
  servers.remember(patched);
  return { server: patched, change: isRetry ? "retried" : "woken" };
}
