// What a run asks of the rest of the world; every answer is a value that is judged elsewhere.

import { isKubeError } from "@svc/kube";
import { backups, Fault, isFault } from "@svc/proto";
import { namespaceOf, servers as resource, type Server } from "../cluster/resource.ts";
import { startServer } from "../server/start.ts";
import { stoppedBy } from "./decide.ts";
import type { Answer } from "./decide-outcome.ts";
import type { ScheduleDeps } from "./deps.ts";
import { runKeyOf } from "./plan.ts";
import type { ScheduleRow } from "./row.ts";

/** Read from the cluster itself: a copy may be older than what another replica did for the same run. */
export async function readServer(deps: ScheduleDeps, name: string): Promise<Server | undefined> {
  const server = await deps.kube.find(resource, { name, namespace: deps.namespace });
  return server?.metadata.deletionTimestamp === undefined ? server : undefined;
}

/** Asks a server to stop unless it changed since it was read; then undefined. */
export async function stopServer(
  deps: ScheduleDeps,
  server: Server,
  row: ScheduleRow,
): Promise<Server | undefined> {
  const { name, resourceVersion } = server.metadata;
  const metadata = { resourceVersion, annotations: { [stoppedBy]: runKeyOf(row) } };
  const merge = { metadata, spec: { desiredState: "Stopped" } };
  try {
    const stopped = await deps.kube.patch(resource, { name, namespace: namespaceOf(server) }, { merge });
    deps.servers.remember(stopped);
    return stopped;
  } catch (error) {
    if (isKubeError(error, 409)) return undefined;
    throw error;
  }
}

/** The wake path without the cooldown of players. */
export async function startFor(deps: ScheduleDeps, server: Server): Promise<Answer<void>> {
  return answerOf(async () => {
    const row = await deps.store.find(server.metadata.name);
    const refuse = (fault: ConstructorParameters<typeof Fault>[0]) => new Fault(fault);
    await startServer(deps, { server, row, mayRetry: true, isScheduled: true, refuse });
  });
}

export async function askBackup(deps: ScheduleDeps, row: ScheduleRow): Promise<Answer<{ job: string }>> {
  const { server_name: name, created_by } = row;
  return answerOf(() =>
    deps.mesh.call(backups.startScheduledBackup, { name, run_key: runKeyOf(row), created_by }),
  );
}

export async function readBackup(deps: ScheduleDeps, row: ScheduleRow) {
  return answerOf(() => deps.mesh.call(backups.readBackupRun, { job: row.run_job }));
}

async function answerOf<T>(work: () => Promise<T>): Promise<Answer<T>> {
  try {
    return { kind: "done", value: await work() };
  } catch (error) {
    if (isFault(error)) return { kind: "refused", fault: error.fault, message: error.message };
    if (isKubeError(error)) {
      const message = "The cluster does not answer right now.";
      return { kind: "refused", fault: "unavailable", message };
    }
    throw error;
  }
}
