// All SQL of the platform settings. A value that is missing or cannot be read counts as its safe default.

import { settings } from "@svc/proto";
import type { IdentityDb, IdentityTrx } from "../database.ts";
import { announcePasswordOff } from "../session/store.ts";

type PlatformSettings = settings.PlatformSettings;
const defaults: PlatformSettings = { local_auth_enabled: false };
const keys = Object.keys(defaults) as (keyof PlatformSettings)[];

export async function readPlatformSettings(db: IdentityDb): Promise<PlatformSettings> {
  const rows = await db
    .selectFrom("platform_settings")
    .select(["key", "value"])
    .where("key", "in", keys)
    .execute();
  const shape = settings.PlatformSettings.shape;
  const known = rows.flatMap(({ key, value }) => {
    const parsed = shape[key as keyof PlatformSettings].safeParse(value);
    return parsed.success ? [[key, parsed.data] as const] : [];
  });
  return { ...defaults, ...Object.fromEntries(known) };
}

/** Saves the given settings. Switching sign-in by password off evicts its sessions from every gateway's cache. */
export async function savePlatformSettings(
  trx: IdentityTrx,
  change: { [K in keyof PlatformSettings]?: PlatformSettings[K] | undefined },
  now: Date,
): Promise<void> {
  const rows = Object.entries(change).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: JSON.stringify(value) }],
  );
  if (rows.length === 0) return;
  await trx
    .insertInto("platform_settings")
    .values(rows)
    .onConflict((conflict) =>
      conflict.column("key").doUpdateSet((update) => ({ value: update.ref("excluded.value") })),
    )
    .execute();
  if (change.local_auth_enabled === false) await announcePasswordOff(trx, now);
}
