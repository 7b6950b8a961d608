import type { HeldLock } from "@svc/world-lock";
import type { WorldPlan, WorldServer } from "./decide.ts";

/** A world under our lock and what is to be done with it. */
export type DueWorld = {
  world: WorldServer;
  plan: Extract<WorldPlan, { kind: "reap" }>;
  lock: HeldLock;
};
