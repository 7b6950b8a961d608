import type { Serving } from "../serving.ts";

export function serveUsers(_serving: Serving): void {}
