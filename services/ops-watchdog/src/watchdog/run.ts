// One run: look, decide, tell, remember (docs/reference/alerts.md#runs). What was sent is remembered after it was delivered:
// a process that is killed in between sends it again, and never not at all.

import type { Mesh } from "@svc/mesh";
import { notices } from "@svc/proto";
import type { RelaySettings } from "@svc/smtp";
import { beat } from "./deliver/heartbeat.ts";
import { type Way, waysOf } from "./deliver/ways.ts";
import { decideDue, isAnythingDue, longestPauseMs, markAttempt, markSent } from "./due.ts";
import type { Finding } from "./finding.ts";
import { takeLock } from "./lock.ts";
import { observe, settle } from "./observe.ts";
import { isHeldBack } from "./operate.ts";
import { runFailed } from "./probe/own.ts";
import { type Looked, lookAll, type Probe, type ProbeContext } from "./probe/probe.ts";
import { isSilenced } from "./silence.ts";
import { emptyState, type WatchdogState } from "./state.ts";
import { type StateFile, StateUnsavableError } from "./state-file.ts";

export type RunDeps = Omit<ProbeContext, "state" | "now" | "mesh"> & {
  file: StateFile;
  probes: readonly Probe[];
  /** Rejects while NATS is away. */
  openMesh: () => Promise<Mesh>;
  relay: RelaySettings | undefined;
  now: () => number;
  /** Called before each step; tests stop the process there. */
  step?: (name: string) => void;
};

export type RunReport = {
  findings: readonly Finding[];
  unknown: Looked["unknown"];
  /** Ways that were sent something. */
  delivered: string[];
  failed: { way: string; error: string }[];
  /** Alerts that should be known to somebody and are to nobody. */
  unheard: string[];
  state: "saved" | "copied" | "lost" | "not_written";
  quiet: boolean;
  heartbeat: "off" | "good" | "fail" | "unreachable" | "held";
};

const lookWithinMs = 75_000;

/** Throws when another run is under way. */
export async function runOnce(deps: RunDeps, { dryRun }: { dryRun: boolean }): Promise<RunReport> {
  const release = await takeLock(deps.settings.ops_watchdog.state_dir, dryRun ? "dry-run" : "run", 0);
  if (!release) throw new Error("another run of the watchdog is under way");
  let opened: Promise<Mesh> | undefined;
  const mesh = () => {
    opened ??= deps.openMesh();
    return opened;
  };
  try {
    const before = await deps.file.read();
    const context = { ...deps, mesh, state: before, now: deps.now() };
    const looked = await lookAll(deps.probes, context, AbortSignal.timeout(lookWithinMs));
    const recipients = await readRecipients(mesh).catch(() => undefined);
    if (dryRun) return dryReport(looked, { ...before, ...(recipients && { recipients }) }, deps);
    return await tell(deps, looked, recipients);
  } finally {
    await opened?.then((connected) => connected.drain(500)).catch(() => undefined);
    await release();
  }
}

async function readRecipients(mesh: () => Promise<Mesh>): Promise<WatchdogState["recipients"]> {
  const { recipients } = await (await mesh()).call(notices.listStaffRecipients, {});
  return recipients;
}

function dryReport(looked: Looked, before: WatchdogState, deps: RunDeps): RunReport {
  const now = deps.now();
  const state = observe(before, looked, now);
  const due = waysFor(deps, state).filter((way) => isAnythingDue(decideDue(state, way.id, now)));
  return {
    ...{ findings: looked.findings, unknown: looked.unknown, failed: [], quiet: false },
    delivered: due.map(({ id }) => id),
    unheard: unheardOf(state, now),
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
  const isQuiet = await isHeldBack(settings.ops_watchdog.quiet_file, now());
  const memory = createMemory(file);
  step?.("observed");
  await memory.change((before) => {
    const { findings, unknown, counters } = looked;
    const seen = observe(before, { findings, unknown }, now());
    if (counters === undefined) return seen;
    return { ...seen, unknown: [...unknown], checked_at: now(), counters, ...(recipients && { recipients }) };
  });
  // Without a memory every run would send everything again.
  const mayTell = !isQuiet && memory.kind() !== "lost";
  const outcome = mayTell ? await deliver(deps, memory) : { delivered: [], failed: [] };
  const report = {
    ...{ findings: looked.findings, unknown: looked.unknown, ...outcome },
    unheard: isQuiet ? [] : unheardOf(memory.state(), now()),
    ...{ state: memory.kind(), quiet: isQuiet },
  };
  return { ...report, heartbeat: await sendBeat(deps, memory, report) };
}

/** Without counters when nothing was looked at. */
type Seen = Omit<Looked, "counters"> & { counters: Looked["counters"] | undefined };

type Memory = {
  change: (to: (before: WatchdogState) => WatchdogState) => Promise<void>;
  state: () => WatchdogState;
  kind: () => "saved" | "copied" | "lost";
};

/** Changes the file; what cannot be saved lives on for the rest of the run. */
function createMemory(file: StateFile): Memory {
  let state = emptyState();
  let kind: ReturnType<Memory["kind"]> = "saved";
  return {
    state: () => state,
    kind: () => kind,
    change: async (to) => {
      try {
        const written = await file.update(to);
        state = written.state;
        kind = written.problem === undefined ? "saved" : "copied";
      } catch (error) {
        if (!(error instanceof StateUnsavableError)) throw error;
        state = to(kind === "lost" ? state : await file.read());
        kind = "lost";
      }
    },
  };
}

function waysFor({ settings, relay, env, now }: RunDeps, state: WatchdogState): Way[] {
  const host = settings.server.root_domain;
  return waysOf({ relay, settings: settings.ops_watchdog, host, env, now }, state.recipients);
}

async function deliver(deps: RunDeps, memory: Memory): Promise<Pick<RunReport, "delivered" | "failed">> {
  const { now, step } = deps;
  const ways = waysFor(deps, memory.state());
  const delivered: string[] = [];
  const failed: RunReport["failed"] = [];
  for (const way of ways) {
    const due = decideDue(memory.state(), way.id, now());
    const nextAt = memory.state().ways[way.id]?.next_at ?? 0;
    // A pause from before the clock was set back is none.
    const isPaused = nextAt > now() && nextAt - now() <= longestPauseMs;
    if (!isAnythingDue(due) || isPaused) continue;
    const error = await way.send(due).then(
      () => undefined,
      (reason: Error) => reason.message.slice(0, 300),
    );
    step?.("delivered");
    if (error === undefined) delivered.push(way.id);
    else failed.push({ way: way.id, error });
    await memory.change((before) => {
      const tried = markAttempt(before, { way: way.id, error }, now());
      return error === undefined ? markSent(tried, { way: way.id, due }, now()) : tried;
    });
  }
  const ids = ways.map(({ id }) => id);
  await memory.change((before) => forgetWays(settle(before, ids, now()), ids));
  return { delivered, failed };
}

function forgetWays(state: WatchdogState, ids: readonly string[]): WatchdogState {
  const ways = Object.entries(state.ways).filter(([id]) => ids.includes(id));
  return ways.length === Object.keys(state.ways).length
    ? state
    : { ...state, ways: Object.fromEntries(ways) };
}

/** Firing alerts that nobody was sent, silenced ones aside. */
function unheardOf(state: WatchdogState, now: number): string[] {
  return Object.entries(state.alerts)
    .filter(
      ([key, { fired_at, cleared_at, sent }]) =>
        fired_at !== undefined &&
        cleared_at === undefined &&
        Object.keys(sent).length === 0 &&
        !isSilenced(state.silences, key, now),
    )
    .map(([key]) => key)
    .sort();
}

async function sendBeat(
  { settings }: RunDeps,
  memory: Memory,
  report: Omit<RunReport, "heartbeat">,
): Promise<RunReport["heartbeat"]> {
  if (report.quiet) return "held";
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
  await memory.change((before) => ({
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
  const looked = { findings: [runFailed(why)], unknown: [{ prefix: "", reason: why }], counters: undefined };
  return tell(deps, looked, undefined);
}
