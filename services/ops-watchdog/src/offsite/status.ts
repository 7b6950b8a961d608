import type { Handler } from "@svc/mesh";
import type { offsites } from "@svc/proto";
import type { OffsiteSettings } from "../config.ts";
import type { WatchdogDb } from "../database.ts";
import { findPasses, type PassFacts, toPass } from "./report.ts";
import { readVerification, type Verification } from "./verification.ts";

type Deps = { db: WatchdogDb; settings: OffsiteSettings; now: () => number };

/** ops-watchdog.offsite.read-status */
export function createReadOffsite({ db, settings, now }: Deps): Handler<typeof offsites.readOffsite> {
  return () => readOffsiteStatus({ db, settings, now });
}

export async function readOffsiteStatus({ db, settings, now }: Deps): Promise<offsites.OffsiteStatus> {
  const facts = settings.bucket === "" ? noPasses : await findPasses(db);
  const verification = await readVerification(settings.state_dir);
  return toOffsiteStatus(settings, { ...facts, verification }, now());
}

const noPasses: PassFacts = { last: undefined, completed: undefined, listed: undefined };

export function toOffsiteStatus(
  settings: OffsiteSettings,
  facts: PassFacts & { verification?: Verification | undefined },
  now: number,
): offsites.OffsiteStatus {
  const { last, completed, listed, verification } = facts;
  const { bucket, endpoint, prefix, max_age: maxAgeMs } = settings;
  const max_age_seconds = Math.floor(maxAgeMs / 1_000);
  if (bucket === "") return { configured: false, last: null, stale: false, max_age_seconds, kinds: [] };
  const known = last?.state === "running" ? listed : last;
  const { key_id, writer, store } = { ...listed?.report, ...known?.report };
  const completedAt = completed?.finished_at ?? undefined;
  return {
    configured: true,
    bucket,
    ...(endpoint !== "" && { endpoint }),
    ...(prefix !== "" && { prefix }),
    ...(key_id !== undefined && { key_id }),
    ...(writer && { writer }),
    ...(store && { store }),
    last: last ? toPass(last, now) : null,
    ...(completedAt && { last_completed_at: completedAt.toISOString() }),
    stale: completedAt === undefined || now - completedAt.getTime() > maxAgeMs,
    max_age_seconds,
    kinds: listed?.report.kinds ?? [],
    ...(verification && { verified_at: verification.at, damaged: verification.damaged.slice(0, 100) }),
  };
}
