import { join } from "node:path";

/** Image of the demo game server in the embedded cluster. */
export const demoImage = "svc.local/demo-server:1.21.4";

/** Image of the world agent: what the Jobs of backups, restores, exports and file changes run. */
export const agentImage = "svc.local/world-agent";

/** Which program the embedded cluster runs for which image. */
export function imageTable(
  repo: string,
  node: string,
): Record<string, { command: string[]; env?: Record<string, string> }> {
  const env = { NODE_COMPILE_CACHE: join(repo, "node_modules/.cache/v8") };
  return {
    [demoImage]: { command: [node, join(repo, "services/demo-server/src/main.ts")], env },
    [agentImage]: { command: [node, join(repo, "services/world-agent/src/main.ts")], env },
  };
}
