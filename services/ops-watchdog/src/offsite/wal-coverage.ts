// From when until when a run can be recovered from its copies alone. Pure.

import { type Base, isUsable, type Run } from "../wal/folder.ts";
import { nextSegment, parseLsn, segmentName, segmentStart } from "../wal/lsn.ts";
import { baseFiles } from "./wal-key.ts";

type HasPart = (path: string) => boolean;

const segmentPath = ({ name, about }: Run, lsn: bigint) => `${name}/wal/${segmentName(about.timeline, lsn)}`;

/** Whether a copy of a base backup is whole, with the log that makes it consistent. */
export function isCopied(run: Run, base: Base, has: HasPart): boolean {
  if (!isUsable(run, base)) return false;
  const stop = parseLsn(base.about.stop);
  for (let at = segmentStart(parseLsn(base.about.start)); at < stop; at = nextSegment(at)) {
    const path = segmentPath(run, at);
    if (!has(path) && !has(`${path}.partial`)) return false;
  }
  return baseFiles.every((file) => has(`${run.name}/${base.name}/${file}`));
}

/**
 * The oldest base backup from which every whole segment until the position is there: its end is where the coverage begins.
 * Undefined where there is none.
 */
export function firstCovered(run: Run, until: bigint, has: HasPart): Base | undefined {
  // From the position backwards: where the first segment is missing.
  let reached = segmentStart(until);
  const oldest = run.bases[0];
  if (!oldest) return undefined;
  const from = segmentStart(parseLsn(oldest.about.start));
  while (reached > from && has(segmentPath(run, reached - 1n))) reached = segmentStart(reached - 1n);
  return run.bases.find(
    (base) =>
      parseLsn(base.about.stop) <= until &&
      segmentStart(parseLsn(base.about.start)) >= reached &&
      baseFiles.every((file) => has(`${run.name}/${base.name}/${file}`)),
  );
}
