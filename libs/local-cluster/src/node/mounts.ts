// A container is a local process without a mount namespace, so a mount is three things at once:
// - a symbolic link at the mount path below the container's own root directory, which is also its working directory,
//   so that a program which treats SVC_ROOT (or its working directory) as `/` finds the volume there;
// - a variable SVC_MOUNT_<NAME> with the real directory (the volume name in capitals, other characters as `_`);
// - arguments and environment values that are a mount path or lie below one are rewritten to the real directory,
//   also behind the first `=` of an argument (`--data=/data`).
// A path inside a longer text, such as a shell script, is not rewritten. Read-only mounts can't be enforced.
import { lstat, mkdir, readlink, symlink } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import type { Container } from "../controllers/objects.ts";
import { removeTree } from "../remove-tree.ts";
import { ContainerConfigError } from "./environment.ts";

type Mount = { name: string; mountPath: string; dir: string };

export function mountsOf(container: Container, dirs: Map<string, string>): Mount[] {
  return (container.volumeMounts ?? []).map(({ name, mountPath, subPath }) => {
    const dir = dirs.get(name);
    if (dir === undefined)
      throw new ContainerConfigError(`volume "${name}" is mounted but not in the pod's volumes`);
    const path = mountPath.replace(/(.)\/+$/, "$1");
    return { name, mountPath: path, dir: subPath === undefined ? dir : join(dir, normalize(`/${subPath}`)) };
  });
}

/** The directory of the volume that is mounted at exactly this path. */
export function volumeAt(path: string, container: Container, dirs: Map<string, string>): string | undefined {
  return mountsOf(container, dirs).find(({ mountPath }) => mountPath === path)?.dir;
}

/** The real path of a path inside the container; the longest mount path wins. Other paths stay as they are. */
export function realPath(path: string, mounts: Mount[]): string {
  const fitting = mounts.filter(({ mountPath }) => path === mountPath || path.startsWith(`${mountPath}/`));
  const [best] = fitting.sort((a, b) => b.mountPath.length - a.mountPath.length);
  return best === undefined ? path : best.dir + path.slice(best.mountPath.length);
}

export function rewriteArgument(argument: string, mounts: Mount[]): string {
  const whole = realPath(argument, mounts);
  const equals = argument.indexOf("=");
  if (whole !== argument || equals < 0) return whole;
  return argument.slice(0, equals + 1) + realPath(argument.slice(equals + 1), mounts);
}

/** The SVC_MOUNT_<NAME> variables. */
export function mountVariables(mounts: Mount[]): Record<string, string> {
  return Object.fromEntries(
    mounts.map(({ name, dir }) => [`SVC_MOUNT_${name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`, dir]),
  );
}

/** Lays the links of the mounts into the container's root directory. */
export async function buildRoot(root: string, mounts: Mount[]): Promise<void> {
  await mkdir(join(root, "tmp"), { recursive: true });
  const outerFirst = [...mounts].sort((a, b) => a.mountPath.length - b.mountPath.length);
  for (const { mountPath, dir } of outerFirst) {
    const link = join(root, normalize(`/${mountPath}`));
    if (link === root || link === `${root}/`) continue;
    const known = await lstat(link).catch(() => undefined);
    if (known !== undefined && !known.isSymbolicLink() && mountPath !== "/tmp") continue;
    // A container that is taken over may be using the link at this moment.
    if (known?.isSymbolicLink() && (await readlink(link)) === dir) continue;
    await removeTree(link);
    // A subPath that nobody made yet becomes a directory, as in Kubernetes.
    if ((await lstat(dir).catch(() => undefined)) === undefined) await mkdir(dir, { recursive: true });
    await mkdir(dirname(link), { recursive: true });
    await symlink(dir, link);
  }
}
