// One run: look, decide, tell, remember (docs/reference/alerts.md#runs). What was sent is remembered after it was delivered:
// a process that is killed in between sends it again, and never not at all.

import type { Mesh } from "@svc/mesh";
import { notices } from "@svc/proto";
import type { RelaySettings } from "@svc/smtp";
import { type Delivered, deliver } from "./deliver/deliver.ts";
import { beat } from "./deliver/heartbeat.ts";
import { type Receiver, receiversOf } from "./deliver/receivers.ts";
import { decideDue, isAnythingDue } from "./due.ts";
import type { Finding } from "./finding.ts";
import { type Held, heldBy, sendable } from "./held.ts";
import { takeLock } from "./lock.ts";
import { observe } from "./observe.ts";
import { openRunDatabase } from "./probe/database.ts";
import { type Looked, lookAll, overdue, type Probe, type ProbeContext } from "./probe/probe.ts";
import { runFailed } from "./probe/watchdog-state.ts";
import { createRunState, type RunState } from "./run-state.ts";
import { isSilenced } from "./silence.ts";
import type { WatchdogState } from "./state.ts";
import type { StateFile } from "./state-file.ts";

export type RunDeps = Omit<ProbeContext, "state" | "now" | "mesh" | "database"> & {
  databaseUrl: string;
  file: StateFile;
  probes: readonly Probe[];
  /** Rejects while NATS is away. */
  openMesh: () => Promise<Mesh>;
  relay: RelaySettings | undefined;
  now: () => number;
  /** Called before each step; tests stop the process there. */
  step?: (name: string) => void;
};

export type RunReport = Delivered & {
  findings: readonly Finding[];
  unknown: Looked["unknown"];
  /** Alerts that should be known to somebody and are to nobody. */
  unheard: string[];
  state: "saved" | "copied" | "lost" | "not_written";
  /** What holds everything back. */
  held: Held | null;
  heartbeat: "off" | "good" | "fail" | "unreachable" | "held";
};

const lookWithinMs = 75_000;
const recipientsWithinMs = 20_000;

/** Throws when another run is under way. */
export async function runOnce(deps: RunDeps, { dryRun }: { dryRun: boolean }): Promise<RunReport> {
  const release = await takeLock(deps.settings.ops_watchdog.state_dir, dryRun ? "dry-run" : "run", 0);
  if (!release) throw new Error("another run of the watchdog is under way");
  const { database, close } = openRunDatabase(deps.databaseUrl);
  let opened: Promise<Mesh> | undefined;
  const mesh = () => {
    opened ??= deps.openMesh();
    return opened;
  };
  try {
    const before = await deps.file.read();
    const context = { ...deps, mesh, database, state: before, now: deps.now() };
    const [looked, recipients] = await Promise.all([
      lookAll(deps.probes, context, AbortSignal.timeout(lookWithinMs)),
      readRecipients(mesh),
    ]);
    if (dryRun) return await dryReport(looked, { ...before, ...(recipients && { recipients }) }, deps);
    return await tell(deps, looked, recipients);
  } finally {
    await opened?.then((connected) => connected.drain(500)).catch(() => undefined);
    await close();
    await release();
  }
}

/** Undefined while identity does not answer: those of the last run are mailed then. */
async function readRecipients(mesh: () => Promise<Mesh>): Promise<WatchdogState["recipients"] | undefined> {
  const limit = AbortSignal.timeout(recipientsWithinMs);
  const asked = mesh().then((connected) => connected.call(notices.listStaffRecipients, {}));
  return Promise.race([asked, overdue(limit, recipientsWithinMs)]).then(
    ({ recipients }) => recipients,
    () => {
      // Whoever lost the race may still fail.
      asked.catch(() => undefined);
      return undefined;
    },
  );
}

async function dryReport(looked: Looked, before: WatchdogState, deps: RunDeps): Promise<RunReport> {
  const now = deps.now();
  const state = remember(before, looked, now);
  const held = await heldBy(deps.settings.ops_watchdog.quiet_file, state, now);
  const maySend = sendable(state, held);
  const due = receiversFor(deps, state).filter((receiver) =>
    isAnythingDue(decideDue(maySend, receiver.id, now)),
  );
  return {
    ...{ findings: looked.findings, unknown: looked.unknown, failed: [], held: held ?? null },
    delivered: due.map(({ id }) => id),
    unheard: held ? [] : unheardOf(state, now),
    state: "not_written",
    heartbeat: "held",
  };
}

async function tell(
  deps: RunDeps,
  looked: Seen,
  recipients: WatchdogState["recipients"] | undefined,
): Promise<RunReport> {
  const { file, now, settings, step } = deps;
  const runState = createRunState(file);
  step?.("observed");
  await runState.change((before) => ({
    ...remember(before, looked, now()),
    ...(recipients && { recipients }),
  }));
  const held = await heldBy(settings.ops_watchdog.quiet_file, runState.state(), now());
  // Without a state every run would send everything again.
  const mayTell = held !== "quiet_file" && runState.kind() !== "lost";
  const receivers = mayTell ? receiversFor(deps, runState.state()) : [];
  const outcome = mayTell
    ? await deliver(receivers, { runState, held, now, step })
    : { delivered: [], failed: [] };
  const report = {
    ...{ findings: looked.findings, unknown: looked.unknown, ...outcome },
    unheard: held ? [] : unheardOf(runState.state(), now()),
    ...{ state: runState.kind(), held: held ?? null },
  };
  return { ...report, heartbeat: await sendBeat(deps, runState, report) };
}

/** Without counters when nothing was looked at. */
type Seen = Omit<Looked, "counters" | "standby"> & Partial<Looked>;

function remember(before: WatchdogState, looked: Seen, now: number): WatchdogState {
  const { findings, unknown, counters, standby } = looked;
  const seen = observe(before, { findings, unknown }, now);
  if (counters === undefined) return seen;
  const { standby: known, ...rest } = seen;
  const kept = standby === undefined ? known : (standby ?? undefined);
  return { ...rest, unknown: [...unknown], checked_at: now, counters, ...(kept && { standby: kept }) };
}

function receiversFor({ settings, relay, env, now }: RunDeps, state: WatchdogState): Receiver[] {
  const host = settings.server.root_domain;
  return receiversOf({ relay, settings: settings.ops_watchdog, host, env, now }, state.recipients);
}

/** Firing alerts that nobody was sent, silenced ones aside. */
function unheardOf(state: WatchdogState, now: number): string[] {
  return Object.entries(state.alerts)
    .filter(
      ([key, alert]) =>
        alert.fired_at !== undefined &&
        alert.cleared_at === undefined &&
        Object.keys(alert.sent).length === 0 &&
        !isSilenced(state.silences, { key, ...alert }, now),
    )
    .map(([key]) => key)
    .sort();
}

async function sendBeat(
  { settings }: RunDeps,
  runState: RunState,
  report: Omit<RunReport, "heartbeat">,
): Promise<RunReport["heartbeat"]> {
  if (report.held) return "held";
  const reason = failureOf(report);
  const findings = report.findings.map(({ key, summary }) => `${key}: ${summary.en}`);
  const what = reason === undefined ? { kind: "good" as const } : { kind: "fail" as const, reason, findings };
  let error: string | undefined;
  try {
    const sent = await beat(settings.ops_watchdog.heartbeat_url_file, what);
    if (sent === undefined) return "off";
  } catch (failure) {
    error = (failure as Error).message;
  }
  await runState.change((before) => ({
    ...before,
    heartbeat: { at: Date.now(), ok: error === undefined, ...(error !== undefined && { error }) },
  }));
  return error === undefined ? what.kind : "unreachable";
}

function failureOf({ failed, unheard, state }: Omit<RunReport, "heartbeat">): string | undefined {
  if (state === "lost") return "the state cannot be saved";
  if (unheard.length > 0) return `alerts that reach nobody: ${unheard.join(", ")}`;
  if (failed.length > 0) return failed.map(({ way, error }) => `${way.split(":")[0]}: ${error}`).join("; ");
  return undefined;
}

/** After a run that failed: remembers it and tells staff when that lasts, without looking at anything. */
export function recordFailedRun(deps: RunDeps, why: string): Promise<RunReport> {
  const looked = { findings: [runFailed(why)], unknown: [{ prefix: "", reason: why }] };
  return tell(deps, looked, undefined);
}
