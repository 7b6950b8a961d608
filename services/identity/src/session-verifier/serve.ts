import type { Serving } from "../serving.ts";

export function serveSessionVerifier(_serving: Serving): void {}
