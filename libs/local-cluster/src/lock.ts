import { readFileSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A process, identified by its pid and its start time in clock ticks since boot. */
function identity(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name in brackets may contain spaces; the start time is the 20th field after it.
    return `${pid} ${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]}`;
  } catch {
    return undefined;
  }
}

/**
 * Prevents a second cluster on the same data folder, where both would run the same pods. A lock whose process died
 * is ignored. Returns the release.
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
