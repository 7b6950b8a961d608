import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "@svc/telemetry";
import type { Kube } from "./client.ts";
import { isKubeError } from "./error.ts";
import { type Lease, resources } from "./resource.ts";

type LeaseOptions = {
  kube: Kube;
  namespace: string;
  name: string;
  /** Unique per process. */
  identity: string;
  /** Others take over when the holder has not renewed for this long; 12 s by default. */
  durationMs?: number;
  /** Interval at which the holder renews and the others check; 3 s by default. */
  renewMs?: number;
  /**
   * Runs while this process holds the lease; `signal` aborts when it no longer does. The lease is released only after
   * this has returned.
   */
  lead: (signal: AbortSignal) => Promise<void>;
  log: Logger;
};

type LeaseHandle = {
  /**
   * True until somebody else may lead: also while `lead` comes to its end, but not in a process that slept past the end
   * of its lease and did not notice yet.
   */
  isHeld: () => boolean;
  /** Stops leading, waits for `lead` and releases the lease, so that another process takes over at once. */
  release: () => Promise<void>;
};

type Seen = { version: string; at: number };

/**
 * Leader election by a coordination.k8s.io Lease. Age is measured by this process's own clock from the last observed
 * change, so clocks of machines need not agree. A holder that cannot renew stops leading
 * after two thirds of the duration, before anybody else may start.
 */
export function startLease(options: LeaseOptions): LeaseHandle {
  const { durationMs = 12_000, renewMs = 3_000, log, name } = options;
  const stopping = new AbortController();
  let leading: { end: AbortController; done: Promise<void> } | undefined;
  let renewedAt = 0;
  let seen: Seen | undefined;
  let held: Lease | undefined;
  let lapse: NodeJS.Timeout | undefined;
  const heldForMs = (durationMs * 2) / 3;

  const begin = () => {
    log.info({ lease: name }, "became leader");
    const end = new AbortController();
    const done = options.lead(end.signal).catch((error: unknown) => {
      log.error({ lease: name, err: error }, "leader work failed");
    });
    leading = { end, done };
  };
  const end = async () => {
    const current = leading;
    if (!current) return;
    log.info({ lease: name }, "stopped leading");
    current.end.abort();
    await current.done;
    if (leading === current) leading = undefined;
  };
  // By its own timer: a renewal that hangs must not hold up the end of what it would have renewed.
  const renewed = (at: number) => {
    renewedAt = at;
    clearTimeout(lapse);
    lapse = setTimeout(() => void end(), at + heldForMs - performance.now());
  };
  const round = async () => {
    // Its holder knows what it wrote, and a write over another's is refused: only candidates have to read.
    const known = held;
    held = undefined;
    const limits = { timeoutMs: renewMs, signal: stopping.signal };
    const lease = known ?? (await options.kube.find(resources.leases, options, limits));
    const version = lease?.metadata.resourceVersion ?? "";
    if (seen?.version !== version) seen = { version, at: performance.now() };
    const isMine = lease?.spec?.holderIdentity === options.identity;
    const isFree = !lease?.spec?.holderIdentity || performance.now() - seen.at > durationMs;
    if (!isMine && !isFree) {
      renewedAt = Number.NEGATIVE_INFINITY;
      return void (await end());
    }
    const startedAt = performance.now();
    const written = await write(options, lease, { isMine, durationMs, renewMs });
    held = written;
    seen = { version: written.metadata.resourceVersion ?? "", at: performance.now() };
    renewed(startedAt);
    // An answer that came too late gives nothing to hold.
    if (!leading && performance.now() - startedAt <= heldForMs) begin();
  };
  const running = (async () => {
    while (!stopping.signal.aborted) {
      let isFailed = false;
      await round().catch((error: unknown) => {
        if (stopping.signal.aborted || isKubeError(error, 409)) return;
        isFailed = true;
        log.warn({ lease: name, error: (error as Error).message }, "lease read or renewal failed; retrying");
      });
      await delay(waitMs(renewMs, { isFailed, isHolder: !!leading }), undefined, stopping).catch(() => {});
    }
  })();
  return {
    isHeld: () => leading !== undefined && performance.now() - renewedAt <= heldForMs,
    release: async () => {
      const wasHolder = leading !== undefined;
      stopping.abort();
      await running;
      clearTimeout(lapse);
      await end();
      if (wasHolder) await releaseLease(options).catch(() => undefined);
    },
  };
}

/** A renewal that failed is repeated soon; candidates must not all come in the same moment. */
function waitMs(renewMs: number, now: { isFailed: boolean; isHolder: boolean }): number {
  const jitter = 0.8 + Math.random() * 0.2;
  if (now.isFailed) return Math.min(renewMs, 1_000) * jitter;
  return now.isHolder ? renewMs : renewMs * jitter;
}

async function write(
  options: LeaseOptions,
  lease: Lease | undefined,
  about: { isMine: boolean; durationMs: number; renewMs: number },
): Promise<Lease> {
  // The Lease's times are MicroTime.
  const now = new Date().toISOString().replace("Z", "000Z");
  const before = lease?.spec ?? {};
  const spec = {
    holderIdentity: options.identity,
    leaseDurationSeconds: Math.ceil(about.durationMs / 1_000),
    renewTime: now,
    acquireTime: about.isMine && before.acquireTime ? before.acquireTime : now,
    leaseTransitions: (before.leaseTransitions ?? 0) + (about.isMine || !lease ? 0 : 1),
  };
  const head = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" };
  const { name, namespace, kube } = options;
  const limits = { timeoutMs: about.renewMs };
  if (!lease) return kube.create(resources.leases, { ...head, metadata: { name, namespace }, spec }, limits);
  return kube.replace(resources.leases, { ...lease, ...head, spec }, limits);
}

async function releaseLease(options: LeaseOptions): Promise<void> {
  const lease = await options.kube.find(resources.leases, options, { timeoutMs: 2_000 });
  if (lease?.spec?.holderIdentity !== options.identity) return;
  const spec = { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1 };
  await options.kube.replace(resources.leases, { ...lease, spec }, { timeoutMs: 2_000 });
}
