import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { ClusterApi } from "../cluster-api.ts";
import type { Container } from "../controllers/objects.ts";
import type { Image } from "../image/images.ts";
import type { PodFacts } from "./environment.ts";
import { resolveEnvironment } from "./environment.ts";
import { expand } from "./expand.ts";
import { buildRoot, mountsOf, mountVariables, realPath, rewriteArgument } from "./mounts.ts";
import type { PodPaths } from "./paths.ts";
import type { ExecTarget } from "./probe.ts";

export type CommandDeps = {
  api: ClusterApi;
  facts: PodFacts;
  paths: PodPaths;
  /** Volume name → directory. */
  volumeDirs: Map<string, string>;
  /** Variables that every container gets from the machine, such as PATH. */
  hostEnv: Record<string, string>;
};

export type Command = ExecTarget & {
  /** Another command in the same directory and environment, for probes and hooks. */
  beside(command: string[]): ExecTarget;
};

/**
 * The command of a container. `command` replaces the image's command, `args` are added to either. The environment
 * is, from weak to strong: the machine's, the image's, the container's, and POD_IP, SVC_ROOT, SVC_MOUNT_* and
 * SVC_TERMINATION_LOG (where a program may write its termination message).
 */
export async function buildCommand(
  { api, facts, paths, volumeDirs, hostEnv }: CommandDeps,
  container: Container,
  { image, runDir }: { image: Image; runDir: string },
): Promise<Command> {
  const root = paths.root(container.name);
  const mounts = mountsOf(container, volumeDirs);
  await buildRoot(root, mounts);
  const asked = resolveEnvironment(api, facts, container);
  const moved = Object.entries(asked).map(([name, value]) => [name, realPath(value, mounts)] as const);
  const env = {
    ...hostEnv,
    HOME: root,
    HOSTNAME: facts.pod.spec.hostname ?? facts.pod.metadata.name,
    ...image.env,
    ...Object.fromEntries(moved),
    ...mountVariables(mounts),
    POD_IP: facts.podIP,
    SVC_ROOT: root,
    SVC_TERMINATION_LOG: join(runDir, "termination-log"),
  };
  const rewrite = (parts: string[]) => parts.map((part) => rewriteArgument(expand(part, asked), mounts));
  const program = container.command === undefined ? image.command : rewrite(container.command);
  const inside = container.workingDir ?? "/";
  const mounted = realPath(inside, mounts);
  const cwd = mounted === inside ? join(root, inside) : mounted;
  await mkdir(cwd, { recursive: true });
  const beside = (command: string[]) => ({ argv: rewrite(command), env, cwd });
  return { argv: [...program, ...rewrite(container.args ?? [])], env, cwd, beside };
}
