import { isKubeError, type Kube, type Target } from "@svc/kube";
import { Fault } from "@svc/proto";
import { type LockKind, lockTtlMs, lockValue } from "./holder.ts";
import { lockedServers, maintenanceAnnotation } from "./names.ts";

/** Times in milliseconds; the defaults are those of docs/reference/world-lock.md#lock. */
export type LockDeps = {
  kube: Pick<Kube, "find" | "list" | "patch">;
  ttlMs?: number;
  /** How often a held lock is refreshed; 30 s by default. */
  refreshMs?: number;
  /** Unix milliseconds; `Date.now` by default. */
  now?: () => number;
};

/** A lock that this process holds. It is refreshed until it is released or lost. */
export type HeldLock = AsyncDisposable & {
  readonly kind: LockKind;
  /** The current value of the annotation; a later process may take the lock over with it (`resume`). */
  readonly value: string;
  /** Aborts when the lock is no longer ours: taken by another holder, or not refreshed in time. */
  readonly signal: AbortSignal;
  /** Throws `unavailable` when the lock is no longer ours, even if the process slept too long to have noticed. */
  assertHeld: () => void;
  /** Removes the lock if it is still ours. Does not throw when the cluster is unreachable. */
  release: () => Promise<void>;
  /** Stops refreshing and leaves the lock in place: for a kind that outlives its process (`migration`). */
  leave: () => Promise<void>;
};

const defaultRefreshMs = 30_000;
const ownershipTries = 20;

type Taken = {
  kind: LockKind;
  value: string;
  /** `performance.now()` before it was written. */
  startedAt: number;
};

/** Refreshes a lock that was just written, until it is released or lost. Use `acquireLock`. */
export function createHeldLock(deps: LockDeps, target: Target, taken: Taken): HeldLock {
  const { kind } = taken;
  const { refreshMs = defaultRefreshMs } = deps;
  const lost = new AbortController();
  const done = new AbortController();
  const state = { value: taken.value, tried: new Set([taken.value]), startedAt: taken.startedAt };
  const safeMs = safeMsOf(deps, kind);
  const isLate = () => performance.now() - state.startedAt >= safeMs;
  const lose = (why: string) => {
    if (done.signal.aborted) return;
    done.abort();
    const message = `The lock ${kind} of the world of ${target.name} ${why}; try again.`;
    lost.abort(new Fault("unavailable", { message }));
  };
  const refreshing = (async () => {
    let isFresh = true;
    while (!done.signal.aborted) {
      const untilLate = Math.max(0, state.startedAt + safeMs - performance.now());
      // A cluster that is unreachable now may be back before the lock expires.
      await sleep(Math.min(isFresh ? refreshMs : refreshMs / 6, untilLate), done.signal);
      if (isLate()) lose("could not be refreshed in time");
      if (done.signal.aborted) return;
      isFresh = true;
      const isOurs = await refresh(deps, target, { kind, state }).catch(() => {
        isFresh = false;
        return true;
      });
      if (!isOurs) lose("was taken by another holder");
    }
  })();
  const release = async () => {
    done.abort();
    await refreshing;
    if (!lost.signal.aborted) await change(deps, target, { from: state.tried, to: null }).catch(() => false);
  };
  return {
    kind,
    get value() {
      return state.value;
    },
    signal: lost.signal,
    assertHeld: () => {
      if (isLate()) lose("could not be refreshed in time");
      lost.signal.throwIfAborted();
      if (done.signal.aborted) throw new Error(`the lock ${kind} of ${target.name} was released`);
    },
    release,
    leave: async () => {
      done.abort();
      await refreshing;
    },
    [Symbol.asyncDispose]: release,
  };
}

// Ours ends before others may consider it abandoned, so clocks need not agree to the second.
function safeMsOf({ ttlMs = lockTtlMs, refreshMs = defaultRefreshMs }: LockDeps, kind: LockKind): number {
  return kind === "migration" ? Number.POSITIVE_INFINITY : ttlMs - refreshMs / 2;
}

/** `tried` are all values that we may have written: the response to a write can get lost. */
type State = { value: string; tried: Set<string>; startedAt: number };

async function refresh(
  deps: LockDeps,
  target: Target,
  { kind, state }: { kind: LockKind; state: State },
): Promise<boolean> {
  const startedAt = performance.now();
  const next = lockValue(kind, (deps.now ?? Date.now)());
  const from = new Set(state.tried);
  state.tried.add(next);
  if (!(await change(deps, target, { from, to: next }))) return false;
  state.value = next;
  state.tried = new Set([next]);
  state.startedAt = startedAt;
  return true;
}

// False when the lock is not ours, or the server is gone.
async function change(
  { kube }: LockDeps,
  target: Target,
  { from, to }: { from: ReadonlySet<string>; to: string | null },
): Promise<boolean> {
  for (let left = ownershipTries; ; left--) {
    const server = await kube.find(lockedServers, target);
    if (!from.has(server?.metadata.annotations?.[maintenanceAnnotation] ?? "")) return false;
    const resourceVersion = server?.metadata.resourceVersion;
    const merge = { metadata: { resourceVersion, annotations: { [maintenanceAnnotation]: to } } };
    try {
      await kube.patch(lockedServers, target, { merge });
      return true;
    } catch (error) {
      if (isKubeError(error, 404)) return false;
      if (!isKubeError(error, 409) || left === 0) throw error;
    }
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, Math.min(ms, 2 ** 31 - 1));
    timer.unref();
    signal.addEventListener("abort", end, { once: true });
  });
}
