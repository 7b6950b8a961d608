// Writes a report of every end of a server that nobody asked for (docs/reference/crashes.md). The replica that reconciles
// does it; ends that nobody saw are found again in the pods' states.

import { randomUUID } from "node:crypto";
import { createWorkQueue, type Kube, resources } from "@svc/kube";
import { isUserName } from "@svc/proto";
import { Counter, type Logger, type Registry } from "@svc/telemetry";
import { createHideSecrets } from "@svc/telemetry/redact";
import { positiveQuantity } from "../cluster/quantity.ts";
import {
  forwardingSecretName,
  namespaceOf,
  rconSecretRef,
  restartPolicyOf,
  type Server,
  servers,
  wantsToRun,
} from "../cluster/resource.ts";
import type { Watched } from "../cluster/watched.ts";
import type { LifecycleSettings } from "../config.ts";
import { type EndedRun, endedRunOf, hangOf } from "./ended-run.ts";
import { explain, isCrash } from "./explain.ts";
import { keptLines, readLastLines } from "./lines.ts";
import type { AfterCrash, CrashStore } from "./store.ts";
import { tickSignsOf } from "./ticks.ts";

type RecorderDeps = {
  kube: Kube;
  watched: Pick<Watched, "servers" | "pods">;
  crashes: CrashStore;
  settings: LifecycleSettings;
  namespace: string;
  metrics: CrashMetrics;
  log: Logger;
  now: () => number;
};

export type CrashRecorder = {
  /** Something changed at a server; cheap when no run has ended. */
  changed: (name: string) => void;
  close: () => Promise<void>;
};

export type CrashMetrics = { recorded: (cause: string) => void };

const concurrency = 4;
/** For so long a log that cannot be read is tried again; then the report has no lines. */
const patienceMs = 120_000;
const mebibyte = 2 ** 20;

export function createCrashMetrics(registry: Registry): CrashMetrics {
  const total = new Counter({
    name: "svc_server_crashes_total",
    help: "Ends of servers that nobody asked for, by cause.",
    labelNames: ["cause"] as const,
    registers: [registry],
  });
  return { recorded: (cause) => total.inc({ cause }) };
}

export function startCrashRecorder(deps: RecorderDeps): CrashRecorder {
  const { watched, log } = deps;
  /** Ends that are dealt with, by server: the newest crash, and the newest hang. */
  const known = new Map<string, readonly string[]>();
  const endsOf = (name: string): EndedRun[] => {
    const server = watched.servers.get(name);
    const pod = isUserName(name) ? watched.pods.get(`${name}-0`) : undefined;
    if (!server || !pod) return [];
    return [endedRunOf(pod), hangOf(server, pod)].flatMap((run) => run ?? []);
  };
  const isNew = (name: string, { key }: EndedRun) => !known.get(name)?.includes(key);
  const queue = createWorkQueue({
    concurrency,
    handle: async (name, signal) => {
      const ends = endsOf(name);
      for (const run of ends) {
        const server = watched.servers.get(name);
        if (server && isNew(name, run)) await record(deps, { server, run }, signal);
      }
      known.set(
        name,
        ends.map(({ key }) => key),
      );
      return undefined;
    },
    onError: (server, error, retry_ms) =>
      log.warn({ server, error: (error as Error).message, retry_ms }, "recording a crash failed; retrying"),
  });
  return {
    changed: (name) => {
      if (!watched.servers.get(name)) known.delete(name);
      else if (endsOf(name).some((run) => isNew(name, run))) queue.add(name);
    },
    close: queue.close,
  };
}

async function record(
  deps: RecorderDeps,
  { server, run }: { server: Server; run: EndedRun },
  signal: AbortSignal,
): Promise<void> {
  const { name } = server.metadata;
  const facts = await deps.crashes.factsOf(name, run);
  if (facts.isRecorded) return;
  const lines = await linesOf(deps, { server, run }, signal);
  const exit = { code: run.exitCode, reason: run.reason };
  if (!run.hangs && !isCrash(lines, { ...exit, wasRunning: facts.wasRunning })) return;
  const { cause, detail } = run.hangs ? { cause: "hung" as const, detail: undefined } : explain(lines, exit);
  if (!run.hangs) await stopIfWanted(deps, server);
  const limit = positiveQuantity(server.spec.resources?.limits?.["memory"] ?? "");
  await deps.crashes.record(
    {
      id: randomUUID(),
      server_name: name,
      run: run.key,
      at: run.endedAt,
      cause,
      detail: detail ?? null,
      exit_code: run.exitCode ?? null,
      exit_reason: run.reason.slice(0, 64) || null,
      ran_seconds: Math.max(0, Math.round((run.endedAt.getTime() - run.startedAt.getTime()) / 1_000)),
      was_running: run.hangs ?? facts.wasRunning,
      memory_mib: facts.memoryMib ?? null,
      memory_limit_mib: limit === undefined ? null : Math.round(limit / mebibyte),
      tps: facts.tps ?? null,
      ...ticksOf(lines),
      lines: keptLines(lines),
    },
    afterOf(deps, server, run),
  );
  deps.metrics.recorded(cause);
  deps.log.info({ server: name, cause, exit_code: run.exitCode }, "server crashed");
}

function ticksOf(lines: readonly string[]) {
  const { behindMs, hasWatchdog } = tickSignsOf(lines);
  return { behind_ms: behindMs ?? null, watchdog: hasWatchdog };
}

/** A process that hangs is left alone by its policy, or once the automatic restarts are used up. */
function afterOf({ settings }: RecorderDeps, server: Server, { hangs }: EndedRun): AfterCrash {
  const { after_crash, when_hung } = restartPolicyOf(server);
  if (!hangs) return after_crash === "stop" ? "stopped" : "restarts";
  const isUsedUp = (server.status?.autoRestarts ?? 0) >= settings.auto_restarts;
  return when_hung === "leave" || isUsedUp ? "left" : "restarts";
}

// Before the report is written: whoever finds no report does it again. The version that was seen must still be there, so a wake
// in the meantime wins.
async function stopIfWanted({ kube, watched }: RecorderDeps, server: Server): Promise<void> {
  if (restartPolicyOf(server).after_crash !== "stop" || !wantsToRun(server)) return;
  const { name, resourceVersion } = server.metadata;
  const merge = { metadata: { resourceVersion }, spec: { desiredState: "Stopped" } };
  watched.servers.remember(await kube.patch(servers, { name, namespace: namespaceOf(server) }, { merge }));
}

async function linesOf(
  deps: RecorderDeps,
  { server, run }: { server: Server; run: EndedRun },
  signal: AbortSignal,
): Promise<string[]> {
  const { kube, namespace, settings, now } = deps;
  try {
    const about = { kube, namespace, lineBytes: settings.console_line_bytes };
    const lines = await readLastLines(about, { name: server.metadata.name, run, signal });
    const hide = createHideSecrets(await secretsOf(deps, server));
    return lines.map(hide);
  } catch (error) {
    if (signal.aborted || now() - run.endedAt.getTime() < patienceMs) throw error;
    return [];
  }
}

/** What a server may print of what only it and svc know. */
async function secretsOf({ kube, namespace }: RecorderDeps, server: Server): Promise<string[]> {
  const names = [rconSecretRef(server).name, forwardingSecretName(server)];
  const found = await Promise.all(names.map((name) => kube.find(resources.secrets, { name, namespace })));
  return found.flatMap((secret) =>
    Object.values(secret?.data ?? {}).map((value) => Buffer.from(value, "base64").toString("utf8").trim()),
  );
}
