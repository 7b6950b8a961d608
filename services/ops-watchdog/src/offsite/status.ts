import type { Handler } from "@svc/mesh";
import type { offsites } from "@svc/proto";
import type { OffsiteSettings } from "../config.ts";
import type { WatchdogDb } from "../database.ts";
import { findPasses, type PassFacts, toPass } from "./report.ts";
import { readVerification, type Verification } from "./verification.ts";
import { newestCovered, readWalState } from "./wal-state.ts";

type Deps = {
  db: WatchdogDb;
  settings: OffsiteSettings;
  /** Whether the log of the database is archived. */
  walArchive: boolean;
  now: () => number;
};

/** ops-watchdog.offsite.read-status */
export function createReadOffsite(deps: Deps): Handler<typeof offsites.readOffsite> {
  return () => readOffsiteStatus(deps);
}

export async function readOffsiteStatus(deps: Deps): Promise<offsites.OffsiteStatus> {
  const { db, settings, walArchive, now } = deps;
  const facts = settings.bucket === "" ? noPasses : await findPasses(db);
  const verification = await readVerification(settings.state_dir);
  const wal = walArchive ? await readWalCopies(settings, now()) : undefined;
  return toOffsiteStatus(settings, { ...facts, verification, wal }, now());
}

/** What the copies of the log cover, as the newest pass left them. */
export async function readWalCopies(
  { state_dir, wal_copy_max_age }: Pick<OffsiteSettings, "state_dir" | "wal_copy_max_age">,
  now: number,
): Promise<NonNullable<offsites.OffsiteStatus["wal"]>> {
  const covered = newestCovered(await readWalState(state_dir));
  return {
    ...(covered && { covered_from: covered.from, covered_until: covered.until }),
    stale: covered === undefined || now - Date.parse(covered.until) > wal_copy_max_age,
  };
}

const noPasses: PassFacts = { last: undefined, completed: undefined, listed: undefined };

const arePacksLocked = (store: offsites.OffsiteStore | undefined): boolean =>
  store?.object_lock === "governance" || store?.object_lock === "compliance";

export function toOffsiteStatus(
  settings: OffsiteSettings,
  facts: PassFacts & {
    verification?: Verification | undefined;
    wal?: offsites.OffsiteStatus["wal"] | undefined;
  },
  now: number,
): offsites.OffsiteStatus {
  const { last, completed, listed, verification, wal } = facts;
  const { bucket, endpoint, prefix, max_age: maxAgeMs } = settings;
  const max_age_seconds = Math.floor(maxAgeMs / 1_000);
  if (bucket === "") return { configured: false, last: null, stale: false, max_age_seconds, kinds: [] };
  const known = last?.state === "running" ? listed : last;
  const { key_id, writer, store } = { ...listed?.report, ...known?.report };
  const walCopies = listed?.report.wal_copies;
  const completedAt = completed?.finished_at ?? undefined;
  return {
    configured: true,
    bucket,
    ...(endpoint !== "" && { endpoint }),
    ...(prefix !== "" && { prefix }),
    ...(key_id !== undefined && { key_id }),
    ...(writer && { writer }),
    ...(store && { store }),
    ...(settings.packs && { packs: arePacksLocked(store) ? "locked" : "on" }),
    last: last ? toPass(last, now) : null,
    ...(completedAt && { last_completed_at: completedAt.toISOString() }),
    stale: completedAt === undefined || now - completedAt.getTime() > maxAgeMs,
    max_age_seconds,
    kinds: listed?.report.kinds ?? [],
    ...(wal && { wal: { ...wal, ...(walCopies && { copies: walCopies }) } }),
    ...(verification && { verified_at: verification.at, damaged: verification.damaged.slice(0, 100) }),
  };
}
