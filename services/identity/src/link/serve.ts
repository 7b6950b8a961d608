import type { Serving } from "../serving.ts";

export function serveLinks(_serving: Serving): void {}
