import { connectMesh, type Mesh } from "@svc/mesh";
import { createLogger } from "@svc/telemetry";
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
    case "silence-alerts":
      return silence(deps, command);
    case "end-silence":
      return endSilence(deps, command).then(() => null);
    case "acknowledge-alert":
      return acknowledgeAlert(deps, command);
    default:
      return { deliveries: await sendTests(deps) };
  }
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
