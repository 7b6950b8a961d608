// Why a move failed, from the sentence of the service, which is English (docs/reference/moves.md#failure).

const reasons = {
  serverGone: /^the server is gone$/,
  lockRemoved: /^the lock of the move was removed$/,
  started: /^the server was started$/,
  volumeChanged: /^(the server now uses another volume|the world's volume was (replaced|moved))$/,
  targetUnavailable: /^the node .+ cannot take worlds at the moment$/,
  sourceOffline: /^the node .+ is offline$/,
  archiveLost: /^(the archive did not arrive|the backup of this move is gone or corrupt)$/,
  unreadable: /^\d+ files of the world cannot be read/,
  tookTooLong: /^the job exceeded its deadline$/,
  notSwitched: /^(the server could not be switched|the new volume is not on )/,
} as const;

type MoveReason = keyof typeof reasons | "other";

/** `other` is what a Job or the cluster said. */
export function reasonOf(error: string): MoveReason {
  const found = Object.entries(reasons).find(([, pattern]) => pattern.test(error));
  return (found?.[0] as MoveReason | undefined) ?? "other";
}
