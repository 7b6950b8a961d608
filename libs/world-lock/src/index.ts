// The maintenance lock of a world (docs/reference/world-lock.md#lock).

export { type AcquireOptions, acquireLock, faultOfHolder } from "./acquire.ts";
export { findHolder, type LockClock } from "./find.ts";
export type { HeldLock, LockDeps } from "./held-lock.ts";
export {
  type Holder,
  holderOf,
  isJobFinished,
  type LockAnnotation,
  type LockKind,
  lockHolderOf,
  lockTtlMs,
  lockValue,
  parseLock,
} from "./holder.ts";
export { type LockedServer, lockedServers, maintenanceAnnotation, worldJobLabels } from "./names.ts";
