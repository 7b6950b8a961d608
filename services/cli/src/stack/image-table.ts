import { join } from "node:path";

/** Image of the demo game server in the embedded cluster. */
export const demoImage = "svc.local/demo-server:1.21.4";

/** Image of the world agent: what the Jobs of backups, restores, exports and file changes run. */
export const agentImage = "svc.local/world-agent";

/** The world agent where it is not run from its source: its file and the folder of V8's code cache. */
type Agent = { file: string; compileCache: string | undefined };

/** Which program the embedded cluster runs for which image. */
export function imageTable(
  repo: string,
  node: string,
  agent: Partial<Agent> = {},
): Record<string, { command: string[]; env?: Record<string, string> }> {
  const ownCache = join(repo, "node_modules/.cache/v8");
  const { file = join(repo, "services/world-agent/src/main.ts"), compileCache = ownCache } = agent;
  const run = (program: string, cache: string) => ({
    command: [node, program],
    env: { NODE_COMPILE_CACHE: cache },
  });
  return {
    [demoImage]: run(join(repo, "services/demo-server/src/main.ts"), ownCache),
    [agentImage]: run(file, compileCache),
  };
}
