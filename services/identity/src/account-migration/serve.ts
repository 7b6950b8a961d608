import type { Serving } from "../serving.ts";

export function serveAccountMigrations(_serving: Serving): void {}
