// How far a pass is, over everything that it sends.

import type { offsites } from "@svc/proto";

export type Progress = {
  /** More is going to be sent. */
  expect: (kind: offsites.OffsiteKind, sizes: readonly number[]) => void;
  /** An object is on its way; the function takes its bytes that were sent so far. */
  begin: (kind: offsites.OffsiteKind) => (sentBytes: number) => void;
  /** It was sent, or failed for now. */
  end: (sizeBytes: number) => void;
};

const everyMs = 1_000;

/** Reports at most once a second. */
export function createProgress(
  report: (progress: offsites.OffsiteProgress) => void,
  now: () => number,
): Progress {
  const state = {
    kind: "db" as offsites.OffsiteKind,
    objects: 0,
    objectsTotal: 0,
    bytes: 0,
    bytesTotal: 0,
    current: 0,
  };
  let startedAt: number | undefined;
  let reportedAt = 0;
  const tell = (isForced = false) => {
    const at = now();
    if (!isForced && at - reportedAt < everyMs && at >= reportedAt) return;
    reportedAt = at;
    const done = Math.min(state.bytes + state.current, state.bytesTotal);
    const eta =
      startedAt === undefined
        ? undefined
        : etaOf({ done, left: state.bytesTotal - done, ms: at - startedAt });
    report({
      kind: state.kind,
      objects_done: state.objects,
      objects_total: state.objectsTotal,
      bytes_done: done,
      bytes_total: state.bytesTotal,
      ...(eta !== undefined && { eta_seconds: eta }),
    });
  };
  return {
    expect: (kind, sizes) => {
      state.kind = kind;
      state.objectsTotal += sizes.length;
      state.bytesTotal += sizes.reduce((sum, size) => sum + size, 0);
      tell(true);
    },
    begin: (kind) => {
      startedAt ??= now();
      Object.assign(state, { kind, current: 0 });
      tell();
      return (sentBytes) => {
        state.current = sentBytes;
        tell();
      };
    },
    end: (sizeBytes) => {
      state.objects += 1;
      state.bytes += sizeBytes;
      state.current = 0;
      tell();
    },
  };
}

const shortestMs = 5_000;

/** Seconds until the rest is sent at the rate so far; undefined in the first seconds and before the first byte. */
function etaOf({ done, left, ms }: { done: number; left: number; ms: number }): number | undefined {
  if (done === 0 || ms < shortestMs) return undefined;
  return Math.ceil((left / done) * (ms / 1_000));
}
