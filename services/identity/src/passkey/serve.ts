import type { Serving } from "../serving.ts";

export function servePasskeys(_serving: Serving): void {}
