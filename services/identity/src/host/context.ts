import type { Settings } from "../config.ts";
import type { IdentityDb } from "../database.ts";

/** What every host command works on. */
export type Host = { db: IdentityDb; settings: Settings; now: Date };
