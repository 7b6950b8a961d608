import { join } from "node:path";
import { demoServerImage, demoServerImages, runsLabel } from "@svc/proto/base-image";

/** Images of the demo game server in the embedded cluster, one for each version. */
export const demoImages = demoServerImages.map(({ config }) => config.Labels[runsLabel]);

/** What a server gets that names none, while nothing is known of its players. */
export const demoImage = demoServerImage.config.Labels[runsLabel];

/** Image of the world agent: what the Jobs of backups, restores, exports and file changes run. */
export const agentImage = "svc.local/world-agent";

/** Image of the steps of a build, the scanner included. */
export const buildImage = "svc.local/build-agent";

/** What the table needs to know of the machine. */
type Local = {
  /** The world agent where it is not run from its source: its file and the folder of V8's code cache. */
  file: string;
  compileCache: string | undefined;
  /** Environment of the steps of a build: which builder and which scanner they use. */
  buildEnv: Record<string, string>;
};

/** What images built FROM the demo server may bring along (docs/reference/images.md#bases). */
const demoBase = {
  entrypoint: demoServerImage.config.Entrypoint,
  env: ["MOTD", "MAX_PLAYERS"],
  data: demoServerImage.config.WorkingDir,
};

type Entry = { command: string[]; env?: Record<string, string>; base?: typeof demoBase };

/** Which program the embedded cluster runs for which image. */
export function imageTable(repo: string, node: string, local: Partial<Local> = {}): Record<string, Entry> {
  const ownCache = join(repo, "node_modules/.cache/v8");
  const { file = join(repo, "services/world-agent/src/main.ts"), compileCache = ownCache, buildEnv } = local;
  const run = (program: string, cache: string) => ({
    command: [node, program],
    env: { NODE_COMPILE_CACHE: cache },
  });
  const demo = run(join(repo, "services/demo-server/src/main.ts"), ownCache);
  const build = run(join(repo, "services/build-agent/src/main.ts"), ownCache);
  return {
    ...Object.fromEntries(
      demoServerImages.map(({ tag, config }) => [
        config.Labels[runsLabel],
        { command: demo.command, env: { ...demo.env, GAME_VERSION: tag }, base: demoBase },
      ]),
    ),
    [agentImage]: run(file, compileCache),
    [buildImage]: { command: build.command, env: { ...build.env, ...buildEnv } },
  };
}
