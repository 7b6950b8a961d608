// Table of contents: what one replica serves and runs.

import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { connectKube } from "@svc/kube";
import { clones } from "@svc/proto";
import type { Running, Runtime } from "@svc/service";
import type { z } from "zod";
import { startAnnouncements } from "./announcement/serve.ts";
import { createClone } from "./clone/create.ts";
import { kubeconfigFile, type settings } from "./config.ts";
import { startConsole } from "./console/serve.ts";
import { startCrashNotices } from "./crash/notice.ts";
import { serveCrashes } from "./crash/serve.ts";
import { createCrashStore } from "./crash/store.ts";
import type { Tables } from "./database/schema.ts";
import { startGroups } from "./group/serve.ts";
import { startHistory } from "./history/serve.ts";
import { serveImageChoices } from "./image/serve.ts";
import { createVersionStore } from "./image/version-store.ts";
import { serveKeepAwake } from "./keep-awake/serve.ts";
import { startKnownPlayers } from "./known-player/serve.ts";
import { serveNodes } from "./node/serve.ts";
import { createOwnerRows } from "./ownership/owner-rows.ts";
import { serveOwnership } from "./ownership/serve.ts";
import { servePlayers } from "./player/serve.ts";
import { startOperator } from "./reconcile/operator.ts";
import { startSchedules } from "./schedule/serve.ts";
import { startSweepingChanges } from "./server/audited-change.ts";
import { serveServers } from "./server/serve.ts";
import { createServerStore } from "./server/store.ts";
import { createWakeReservations } from "./server/wake-reservations.ts";
import { serveFilters } from "./server-filter/serve.ts";
import { startSharing } from "./sharing/serve.ts";
import { startStatusPages } from "./status-page/serve.ts";
import { serveTemplates } from "./template/serve.ts";
import { serveWorlds } from "./world/serve.ts";

/** Starts one replica: it answers requests, and one of all replicas reconciles. */
export async function startLifecycle(
  runtime: Omit<Runtime<z.output<typeof settings>, Tables>, "environment" | "tracing">,
  kubeconfig: string | undefined = kubeconfigFile(),
  about: { now?: () => number } = {},
): Promise<Running> {
  const { mesh, log, registry } = runtime;
  const { lifecycle, k8s, server } = runtime.settings;
  const kube = connectKube({ kubeconfigFile: kubeconfig });
  const store = createServerStore(runtime.store);
  const { namespace } = k8s;
  const identity = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
  const operator = startOperator({
    kube,
    mesh,
    store,
    ownerRows: createOwnerRows(runtime.store, log),
    crashes: createCrashStore(runtime.store, lifecycle.crash_mail_pause),
    settings: lifecycle,
    namespace,
    identity,
    registry,
    log,
    ...about,
  });
  const { servers, nodes, countSoon } = operator;
  const deps = {
    kube,
    mesh,
    store,
    versions: createVersionStore(runtime.store),
    servers,
    nodes,
    namespace,
    countSoon,
    waking: createWakeReservations(),
    settings: lifecycle,
  };
  // A replica that has not read the list yet would answer 503 where others would not; but a cluster that is away must not
  // keep the process from starting.
  await Promise.race([servers.ready, firstReadTimeout(runtime.signal)]);
  serveServers(mesh, deps);
  mesh.serve(clones.create, createClone(deps));
  serveOwnership(mesh, deps, runtime.store);
  serveNodes(mesh, deps);
  servePlayers(mesh, deps, runtime.store);
  serveCrashes(mesh, deps, runtime.store);
  serveKeepAwake(mesh, deps, runtime.store);
  serveImageChoices(mesh, deps);
  serveFilters(mesh, runtime.store);
  serveTemplates(mesh, deps, runtime.store);
  serveWorlds(mesh, deps, runtime.store);
  const sweeping = startSweepingChanges(store.audits, log);
  const crashNotices = startCrashNotices({ database: runtime.store, mesh, settings: lifecycle, log });
  const sharing = startSharing({ mesh, servers: deps, database: runtime.store, log });
  const needs = { mesh, deps, database: runtime.store, registry, log, replica: identity };
  const parts = startParts(needs, { isLeading: operator.isLeading, rootDomain: server.root_domain });
  return {
    notReady: async () =>
      servers.isReady() ? undefined : "the servers have not been read from the cluster yet",
    stuck: operator.stuck,
    stop: async () => {
      await parts.close();
      await Promise.all([operator.close(), sweeping.close(), sharing.close(), crashNotices.close()]);
      kube.close();
    },
  };
}

/** What works on its own beside the operator, until closed. */
function startParts(
  needs: Parameters<typeof startConsole>[0],
  about: { isLeading: () => boolean; rootDomain: string },
): { close: () => Promise<void> } {
  const consoles = startConsole(needs);
  const shared = { ...needs, rcon: consoles.rcon };
  const schedules = startSchedules(shared);
  const knownPlayers = startKnownPlayers(shared);
  const leading = { ...shared, isLeading: about.isLeading };
  const history = startHistory(leading);
  const announcing = startAnnouncements(leading);
  const showing = startStatusPages({ ...leading, rootDomain: about.rootDomain });
  const grouping = startGroups(leading);
  const parts = [schedules, knownPlayers, history, announcing, grouping, showing];
  return {
    close: async () => {
      // They still use the consoles' connections.
      await Promise.all(parts.map((part) => part.close()));
      await consoles.close();
    },
  };
}

const firstReadMs = 15_000;

function firstReadTimeout(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, firstReadMs);
    timer.unref();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
