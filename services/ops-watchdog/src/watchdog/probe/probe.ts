// Runs every probe by itself: one that fails or hangs says that it cannot judge, and takes nobody with it.

import type { Mesh } from "@svc/mesh";
import type { alerts } from "@svc/proto";
import type { Settings } from "../../config.ts";
import type { WatchdogDb } from "../../database.ts";
import type { Finding, Observation } from "../finding.ts";
import type { StandbyState, WatchdogState } from "../state.ts";

export type ProbeContext = {
  settings: Settings;
  /** One pool for all probes; throws where no database is configured. */
  database: () => WatchdogDb;
  natsUrl: string | undefined;
  kubeconfig: string | undefined;
  env: NodeJS.ProcessEnv;
  /** One connection for all probes; rejects while NATS is away. */
  mesh: () => Promise<Mesh>;
  state: WatchdogState;
  now: number;
};

/** What a probe saw. `counters` are kept for its next run; so is `standby` until a run knows better, null = none. */
export type Seen = {
  findings: Finding[];
  unknown?: alerts.UnjudgedCheck[];
  counters?: Record<string, number>;
  standby?: StandbyState | null | undefined;
};

export type Probe = {
  /** Beginnings of the keys of its findings: all are unknown when it fails. */
  prefixes: readonly string[];
  look: (context: ProbeContext, signal: AbortSignal) => Promise<Seen>;
  withinMs?: number;
};

/** This cannot be judged, and why: nothing is wrong, nothing fires. */
export class UnknownError extends Error {
  override name = "UnknownError";
}

/** There is nothing to judge here, and which setting would change that. */
export class NotConfiguredError extends UnknownError {
  override name = "NotConfiguredError";
}

const defaultWithinMs = 20_000;

export type Looked = Observation & { counters: Record<string, number>; standby: Seen["standby"] };

export async function lookAll(
  probes: readonly Probe[],
  context: ProbeContext,
  signal: AbortSignal,
): Promise<Looked> {
  const seen = await Promise.all(probes.map((probe) => lookOnce(probe, context, signal)));
  return {
    findings: seen.flatMap(({ findings }) => findings),
    unknown: seen.flatMap(({ unknown = [] }) => unknown),
    counters: Object.assign({}, ...seen.map(({ counters }) => counters ?? {})),
    standby: seen.map(({ standby }) => standby).find((one) => one !== undefined),
  };
}

async function lookOnce(
  { prefixes, look, withinMs = defaultWithinMs }: Probe,
  context: ProbeContext,
  signal: AbortSignal,
): Promise<Seen> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
  const work = (async () => look(context, limit))();
  try {
    return await Promise.race([work, overdue(limit, withinMs)]);
  } catch (error) {
    // Whoever lost the race may still fail.
    work.catch(() => undefined);
    const reason = firstLine(error);
    const configured = error instanceof NotConfiguredError ? { configured: false as const } : {};
    return { findings: [], unknown: prefixes.map((prefix) => ({ prefix, reason, ...configured })) };
  }
}

export function firstLine(error: unknown): string {
  return (error as Error).message.split("\n")[0]?.slice(0, 300) || "it failed";
}

/** Rejects once `signal` aborts. */
export function overdue(signal: AbortSignal, withinMs: number): Promise<never> {
  const error = new Error(`no answer within ${withinMs / 1_000} s`);
  return new Promise((_done, fail) => {
    if (signal.aborted) return fail(error);
    signal.addEventListener("abort", () => fail(error), { once: true });
  });
}
