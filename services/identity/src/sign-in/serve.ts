import type { Serving } from "../serving.ts";

export function serveSignIn(_serving: Serving): void {}
