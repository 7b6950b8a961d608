import type { HeldLock } from "@svc/world-lock";
import type { Verdict, WorldServer } from "./policy.ts";

/** A world under our lock and what is to become of it. */
export type Due = {
  world: WorldServer;
  verdict: Extract<Verdict, { kind: "reap" }>;
  hold: HeldLock;
};
