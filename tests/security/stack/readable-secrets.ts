// What a malicious game server can read: everything that its own process may open.

import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const mostBytes = 64 * 1_024;

/** Environment of a process of this machine. */
export function environmentOf(pid: number): Record<string, string> {
  const pairs = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").filter(Boolean);
  return Object.fromEntries(pairs.map((pair) => [pair.split("=")[0] ?? "", pair.replace(/^[^=]*=/, "")]));
}

/** The process of a pod: containers of the embedded cluster are processes that know the pod's address. */
export function processAt(podIp: string): number {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const found = pids.map(Number).find((pid) => {
    try {
      const { POD_IP, SVC_MOUNT_WORLD } = environmentOf(pid);
      return POD_IP === podIp && SVC_MOUNT_WORLD !== undefined;
    } catch {
      return false;
    }
  });
  if (found === undefined) throw new Error(`no process has the address ${podIp}`);
  return found;
}

export type MountedFile = { path: string; mode: number; text: string };

/** Every small file of the mounted volumes. */
export function mountedFiles(environment: Record<string, string>): MountedFile[] {
  const dirs = Object.entries(environment).filter(([name]) => name.startsWith("SVC_MOUNT_"));
  return dirs.flatMap(([, dir]) => filesBelow(dir));
}

function filesBelow(dir: string): MountedFile[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry): MountedFile[] => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    const { size, mode } = lstatSync(path);
    if (!entry.isFile() || size > mostBytes) return [];
    return [{ path, mode: mode & 0o777, text: readFileSync(path, "utf8") }];
  });
}

/** Everything in there that may be a secret: whole texts, lines, and values behind `=` or `:`. */
export function candidatesIn(texts: readonly string[]): string[] {
  const words = texts.flatMap((text) => [
    text.trim(),
    ...text.split(/\r?\n/).flatMap((line) => [line.trim(), line.replace(/^[^=:]*[=:]\s*/, "").trim()]),
  ]);
  return [...new Set(words.map((word) => word.replace(/^(["'])(.*)\1$/, "$2")))].filter((word) =>
    /^[\x21-\x7e]{16,256}$/.test(word),
  );
}
