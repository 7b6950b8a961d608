// Requests of a run to the cluster, storage and the game; the answer is a value, which decide-outcome.ts decides on.

import { isKubeError } from "@svc/kube";
import { backups, Fault, isFault } from "@svc/proto";
import { namespaceOf, servers as resource, type Server } from "../cluster/resource.ts";
import { startServer } from "../server/start.ts";
import { stepOf } from "./chain.ts";
import { stoppedBy } from "./decide.ts";
import type { Answer } from "./decide-outcome.ts";
import type { ScheduleDeps } from "./deps.ts";
import { runKeyOf } from "./observed.ts";
import { finish, type Plan } from "./plan.ts";
import type { ScheduleRow } from "./row.ts";

/** Asks a server to stop; undefined when it has changed since it was read. */
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

/** A wake without the cooldown that players have. A run that stopped the server starts it again whatever is announced. */
export async function startFor(
  deps: ScheduleDeps,
  server: Server,
  { run_state }: Pick<ScheduleRow, "run_state">,
): Promise<Answer<void>> {
  return answerOf(async () => {
    const row = await deps.store.find(server.metadata.name);
    const ignoresWindow = run_state !== "claimed";
    const refuse = (...about: ConstructorParameters<typeof Fault>) => new Fault(...about);
    await startServer(deps, { server, row, mayRetry: true, isScheduled: true, ignoresWindow, refuse });
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
      const message = "The cluster is not responding; try again in a moment.";
      return { kind: "refused", fault: "unavailable", message };
    }
    throw error;
  }
}

export async function sendCommand(deps: ScheduleDeps, row: ScheduleRow, server: Server): Promise<Plan> {
  try {
    return finish("ok", await deps.rcon.run(server, stepOf(row).command));
  } catch (error) {
    return {
      ...finish("failed", `The command was not sent: ${(error as Error).message}`, "command_not_sent"),
      ...(isFault(error) && { cause: error.fault }),
    };
  }
}
