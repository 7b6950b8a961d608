import { join } from "node:path";

/** Image of the demo game server in the embedded cluster. */
export const demoImage = "svc.local/demo-server:1.21.4";

/** Which program the embedded cluster runs for which image. */
export function imageTable(
  repo: string,
  node: string,
): Record<string, { command: string[]; env?: Record<string, string> }> {
  return {
    [demoImage]: {
      command: [node, join(repo, "services/demo-server/src/main.ts")],
      env: { NODE_COMPILE_CACHE: join(repo, "node_modules/.cache/v8") },
    },
  };
}
