import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { NodeApi } from "../cluster-api.ts";
import type { Container } from "../controllers/objects.ts";
import type { Image } from "../image/images.ts";
import type { PodFacts } from "./environment.ts";
import { resolveEnvironment } from "./environment.ts";
import { expand } from "./expand.ts";
import { buildRoot, mountsOf, mountVariables, realPath, rewriteArgument } from "./mounts.ts";
import type { PodPaths } from "./paths.ts";
import type { ExecTarget } from "./probe.ts";
import type { Sandbox } from "./sandbox.ts";

export type CommandDeps = {
  api: NodeApi;
  facts: PodFacts;
  paths: PodPaths;
  /** Volume name → directory. */
  volumeDirs: Map<string, string>;
  /** Variables that every container gets from the machine, such as PATH. */
  hostEnv: Record<string, string>;
  /** Where containers have files and a network of their own; absent where they are plain processes. */
  sandbox?: Sandbox;
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
  deps: CommandDeps,
  container: Container,
  { image, runDir }: { image: Image; runDir: string },
): Promise<Command> {
  const { api, facts, paths, volumeDirs, hostEnv, sandbox } = deps;
  if (sandbox !== undefined) return commandInside({ ...deps, sandbox }, container, { image, runDir });
  const root = paths.root(container.name);
  const mounts = mountsOf(container, volumeDirs);
  await buildRoot(root, mounts);
  const asked = await resolveEnvironment(api, facts, container);
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

/** In a container of its own nothing is rewritten, and it gets no variable that a cluster would not give it. */
async function commandInside(
  { api, facts, volumeDirs, sandbox }: CommandDeps & { sandbox: Sandbox },
  container: Container,
  { image, runDir }: { image: Image; runDir: string },
): Promise<Command> {
  const asked = await resolveEnvironment(api, facts, container);
  const within = await sandbox.wrap({
    facts,
    container,
    volumes: volumeDirs,
    dir: runDir,
    env: { HOSTNAME: facts.pod.spec.hostname ?? facts.pod.metadata.name, ...image.env, ...asked },
    workingDir: container.workingDir ?? image.workingDir ?? "/",
  });
  const expanded = (parts: string[] = []) => parts.map((part) => expand(part, asked));
  const program = container.command === undefined ? image.command : expanded(container.command);
  return {
    ...within([...program, ...expanded(container.args)]),
    beside: (command) => within(expanded(command)),
  };
}
