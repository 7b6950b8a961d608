import { randomUUID } from "node:crypto";
import { userInfo } from "node:os";
import { connectMesh, type Mesh } from "@svc/mesh";
import { createLogger } from "@svc/telemetry";
import { createAuditJournal } from "../watchdog/audit-journal.ts";
import {
  acknowledgeAlert,
  alertDeps,
  endSilence,
  readHistory,
  readStatus,
  sendTests,
  silence,
} from "../watchdog/operate.ts";
import { allProbes } from "../watchdog/probe/all.ts";
import { NotConfiguredError } from "../watchdog/probe/probe.ts";
import { type RunDeps, recordFailedRun, runOnce } from "../watchdog/run.ts";
import type { HostContext } from "./context.ts";
import type { WatchCommand } from "./watch-command.ts";

const meshWithinMs = 8_000;

export async function runWatchCommand(context: HostContext, command: WatchCommand): Promise<unknown> {
  const deps = alertDeps(context.settings, context.env, Date.now);
  switch (command.do) {
    case "watch":
      return runOnce(runDeps(context, deps), { dryRun: command.dry_run });
    case "record-failed-watch":
      return recordFailedRun(runDeps(context, deps), command.reason);
    case "list-alerts":
      return command.history ? { entries: await readHistory(deps) } : readStatus(deps);
    case "silence-alerts": {
      const { key, hours, reason } = command;
      const about = { action: "alert.silence", payload: { key, hours, reason } };
      return audited(context, about, () => silence(deps, command));
    }
    case "end-silence": {
      const about = { action: "alert.end_silence", payload: { id: command.id } };
      return audited(context, about, () => endSilence(deps, command).then(() => null));
    }
    case "acknowledge-alert": {
      const about = { action: "alert.acknowledge", payload: { key: command.key } };
      return audited(context, about, () => acknowledgeAlert(deps, command));
    }
    default: {
      const about = { action: "alert.test", payload: {} };
      return { deliveries: await audited(context, about, () => sendTests(deps)) };
    }
  }
}

/** The service hands the entry on: no database may be there now (docs/reference/alerts.md#audit). */
function audited<T>(
  { settings }: Pick<HostContext, "settings">,
  about: { action: string; payload: Record<string, unknown> },
  change: () => Promise<T>,
): Promise<T> {
  const { state_dir: dir, state_copy_dir: copyDir } = settings.ops_watchdog;
  const head = { id: randomUUID(), at: new Date().toISOString() };
  const entry = { ...head, actor: userInfo().username, source: "break-glass", ...about };
  return createAuditJournal({ dir, copyDir, publish: undefined }).around(entry, change);
}

function runDeps(context: HostContext, deps: ReturnType<typeof alertDeps>): RunDeps {
  return {
    ...deps,
    databaseUrl: context.databaseUrl,
    natsUrl: context.natsUrl,
    kubeconfig: context.kubeconfig,
    probes: allProbes(deps.file),
    openMesh: () => openMesh(context),
  };
}

async function openMesh({ natsUrl, natsUser, natsPassword, version }: HostContext): Promise<Mesh> {
  if (!natsUrl) throw new NotConfiguredError("SVC_NATS_URL is not set");
  return connectMesh({
    service: natsUser === "operator" ? "operator" : "ops-watchdog",
    ...{ url: natsUrl, user: natsUser, password: natsPassword, version },
    log: createLogger("ops-watchdog", "silent"),
    signal: AbortSignal.timeout(meshWithinMs),
  });
}
