import type { Serving } from "../serving.ts";

export function serveSettings(_serving: Serving): void {}
