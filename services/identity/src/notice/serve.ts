import type { Serving } from "../serving.ts";

export function serveNotices(_serving: Serving): void {}
