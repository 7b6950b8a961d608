// The maintenance lock of a world (docs/reference/world-lock.md#lock).

export { acquireLock } from "./acquire.ts";
export { findHolder } from "./find.ts";
export type { HeldLock } from "./held-lock.ts";
export { isJobFinished, isReadingMode, type LockKind, lockHolderOf, lockValue } from "./holder.ts";
export { type LockedServer, lockedServers, maintenanceAnnotation, worldJobLabels } from "./names.ts";
