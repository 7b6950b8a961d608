// The end of a build that succeeds, in two transactions. The first seals it: all that is known of the image is recorded, so
// that what follows no longer needs the Job. Then the image gets its tag, and the second ends the build. Whoever finds a sealed
// build repeats the rest; it can neither be cancelled nor fail for want of its Job, so a tag never moves to an image without a
// record.

import type { Attested } from "./attest.ts";
import type { ObservedBuild } from "./decide.ts";
import type { BuildDeps } from "./deps.ts";
import { PushRefused } from "./push-registry.ts";
import type { BuildRow } from "./row.ts";
import { endSealed, findBuild, saveProvenance, saveScan, sealBuild, whitelistBuilt } from "./store.ts";
import { tell } from "./tell.ts";

type Deps = Pick<BuildDeps, "db" | "metrics">;
type Sealing = { observed: ObservedBuild; attested: Attested; log: Buffer | undefined };

/** Undefined when somebody else has sealed or ended it. */
export async function seal(
  { db, metrics }: Deps,
  { id }: BuildRow,
  { observed, attested, log }: Sealing,
): Promise<BuildRow | undefined> {
  const { verdict, push, built, steps } = observed;
  if (!verdict || !push) throw new Error("only a build with a verdict and a digest is sealed");
  const sealed = await db.transaction().execute(async (trx) => {
    const about = { steps, imageDigest: push.digest, bases: built?.bases, log };
    const row = await sealBuild(trx, id, about);
    if (!row) return undefined;
    await saveScan(trx, id, { scannedAt: new Date(verdict.scanned_at), summary: verdict.summary });
    await saveProvenance(trx, { id, digest: push.digest, attested });
    return row;
  });
  if (sealed) metrics.pushed(push);
  return sealed;
}

/** Throws while the registry is unavailable; then the build waits. */
export async function finish(
  deps: Pick<BuildDeps, "db" | "metrics" | "log" | "now" | "tagImage" | "onEnded">,
  row: BuildRow,
): Promise<BuildRow> {
  const refused = await deps.tagImage(row).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof PushRefused) return error.message;
      throw error;
    },
  );
  const ended = await deps.db.transaction().execute(async (trx) => {
    const after = await endSealed(trx, row.id, refused);
    if (!after) return undefined;
    if (refused === undefined) await whitelistBuilt(trx, after);
    await deps.onEnded(trx, after);
    return after;
  });
  if (ended) tell(deps, ended);
  return ended ?? (await findBuild(deps.db, row.id)) ?? row;
}
