import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const listening = "0A";

/** Inodes of the sockets that listen on a TCP port on any address. */
function listeningInodes(port: number): Set<string> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const inodes = new Set<string>();
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of readLines(table)) {
      const fields = line.trim().split(/\s+/);
      if (fields[1]?.endsWith(suffix) && fields[3] === listening && fields[9]) inodes.add(fields[9]);
    }
  }
  return inodes;
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n");
  } catch {
    return [];
  }
}

function hasSocket(pid: string, inodes: Set<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      const target = readlinkSync(`/proc/${pid}/fd/${fd}`);
      return target.startsWith("socket:[") && inodes.has(target.slice(8, -1));
    });
  } catch {
    // Processes of other users are closed to us, and any process may end while we look.
    return false;
  }
}

/** Pid and name of the process that listens on a TCP port, as far as this user may see it. */
export function findPortHolder(port: number): { pid: number; name: string } | undefined {
  const inodes = listeningInodes(port);
  if (inodes.size === 0) return undefined;
  const pid = readdirSync("/proc").find((name) => /^\d+$/.test(name) && hasSocket(name, inodes));
  if (pid === undefined) return undefined;
  return { pid: Number(pid), name: (readLines(`/proc/${pid}/comm`)[0] ?? "").trim() || "unknown" };
}
