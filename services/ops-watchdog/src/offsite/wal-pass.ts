// A pass of the log alone, between two others: it bounds how much can be lost with the machine
// (docs/reference/off-site.md#wal). It sends and never deletes.

import type { ObjectStore } from "@svc/object-store";
import type { KeyRing } from "@svc/sealed";
import { createAttempt } from "./attempt.ts";
import { checkKeys } from "./check-keys.ts";
import { assertWriter } from "./claim.ts";
import { listBucket } from "./listing.ts";
import { type PassResult, reportOn } from "./pass.ts";
import type { PassDeps } from "./pass-context.ts";
import { createProgress } from "./progress.ts";
import { sendWal } from "./send-wal.ts";

type WalPassDeps = Pick<PassDeps, "host" | "now" | "step" | "signal"> & {
  bucket: ObjectStore;
  ring: KeyRing;
  walDir: string;
  stateDir: string;
};

/** Becomes no writer and names no key: both are for a whole pass, and until there was one nothing is sent. */
export function runWalPass(deps: WalPassDeps): Promise<PassResult> {
  return reportOn(async (report) => {
    const { bucket, ring, host, now, signal } = deps;
    const keys = await checkKeys(deps);
    if (keys.recorded()[0] !== ring.active.id) return;
    const claim = { assertHeld: () => assertWriter({ bucket, host, signal }) };
    await claim.assertHeld();
    const listing = await listBucket(bucket, signal, "wal/");
    const progress = createProgress(() => undefined, now);
    const attempt = createAttempt(report, claim, now);
    await sendWal({ ...deps, listing, progress, report, attempt });
  });
}
