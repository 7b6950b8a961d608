import { readFileSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A process told apart from any later one with the same pid by the time of its start, in clock ticks since boot. */
function identity(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name in brackets may hold spaces; the start time is the 20th field after it.
    return `${pid} ${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]}`;
  } catch {
    return undefined;
  }
}

/**
 * Keeps a second cluster off the same data folder, where both would run the same pods. A lock whose process died
 * counts for nothing. Returns the release.
 */
export async function lockDataDir(dataDir: string): Promise<() => Promise<void>> {
  const file = join(dataDir, "cluster.lock");
  const holder = (await readFile(file, "utf8").catch(() => "")).trim();
  const pid = Number(holder.split(" ")[0]);
  if (holder !== "" && identity(pid) === holder) {
    throw new Error(`a cluster with pid ${pid} runs on ${dataDir} already; stop it or choose another folder`);
  }
  await writeFile(file, `${identity(process.pid) ?? process.pid}\n`);
  return () => rm(file, { force: true });
}
