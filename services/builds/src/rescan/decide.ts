// Which images are scanned again (docs/reference/builds.md#rescan). Pure.

/** `name:tag@sha256:...`, or `name@sha256:...` of what a server runs by digest alone. */
export type UsedImage = { ref: string; digest: string };
/** The last time that somebody scanned or built it, whatever came of it. */
export type LastScan = {
  ref: string;
  at: Date;
  status: "pending" | "building" | "succeeded" | "failed" | "cancelled";
};

/** A scan that failed is repeated sooner. */
const retryMs = 3_600_000;

/**
 * What is due, the longest ago first; nothing while another round goes on. `databaseAt` is when the scanner's database was
 * pushed last: what was scanned before is due.
 */
export function decideRescans(
  { images, last }: { images: readonly UsedImage[]; last: readonly LastScan[] },
  {
    now,
    everyMs,
    most,
    databaseAt,
  }: { now: number; everyMs: number; most: number; databaseAt?: Date | undefined },
): UsedImage[] {
  if (last.some(({ status }) => status === "pending" || status === "building")) return [];
  const newest = new Map<string, LastScan>();
  for (const one of last) if ((newest.get(one.ref)?.at ?? 0) < one.at) newest.set(one.ref, one);
  const atOf = (ref: string) => newest.get(ref)?.at.getTime() ?? 0;
  const isDue = ({ ref }: UsedImage) => {
    const hasVerdict = newest.get(ref)?.status === "succeeded";
    if (hasVerdict && databaseAt !== undefined && atOf(ref) < databaseAt.getTime()) return true;
    return now - atOf(ref) >= (hasVerdict ? everyMs : Math.min(everyMs, retryMs));
  };
  const due = new Map(images.filter(isDue).map((image) => [image.ref, image]));
  return [...due.values()].sort((a, b) => atOf(a.ref) - atOf(b.ref)).slice(0, most);
}
