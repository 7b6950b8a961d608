import { isFault, notices, worlds } from "@svc/proto";
import type { WorldPlan, WorldServer } from "./decide.ts";
import { count, type Run } from "./run.ts";

/** Mails the owner; only a delivered mail is recorded, so that any other is retried the next day. */
export async function warnOwner(
  run: Run,
  world: WorldServer,
  { window, goesAt }: Extract<WorldPlan, { kind: "warn" }>,
): Promise<void> {
  const { mesh, log, now } = run.deps;
  const { name, owner_id = "" } = world;
  const kind = window === "1d" ? "world-idle-1d" : "world-idle-3d";
  const facts = { server: name, at: new Date(goesAt).toISOString() };
  try {
    const { result, reason } = await mesh.call(notices.sendNotice, { user_id: owner_id, kind, facts });
    if (result === "suppressed") {
      return log.info({ server: name, window, reason }, "idle warning suppressed");
    }
  } catch (error) {
    if (!isFault(error)) throw error;
    return log.warn({ server: name, window, fault: error.fault }, "idle warning not sent");
  }
  count(run, "warned");
  await mesh.call(worlds.stampWarning, { name, window, at: new Date(now()).toISOString() });
}
