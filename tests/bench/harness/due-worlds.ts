// Servers that the daily run has to look at: idle for sixteen days, owned, and not at rest yet.

import type { worlds } from "@svc/proto";

const dayMs = 86_400_000;

export function worldName(index: number): string {
  return `due-${String(index).padStart(5, "0")}`;
}

export function dueWorld(index: number): worlds.WorldServer {
  const name = worldName(index);
  const since = new Date(Date.now() - 16 * dayMs).toISOString();
  return {
    name,
    exists: true,
    owner_id: `usr-${index}`,
    claimed_at: since,
    last_active_at: since,
    reaper_exempt: false,
    system: false,
    phase: "Stopping",
    desired_state: "Stopped",
    stopped: false,
    volume_claim: `world-${name}-0`,
  };
}
