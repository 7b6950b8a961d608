// The whole stack, as `svc up` starts it; filled in with the stack goals.

import type { Arena } from "./bench.ts";

export type StackArena = { stop: () => Promise<void> };

export async function startStackArena(_arena: Arena): Promise<StackArena> {
  throw new Error("not yet");
}
