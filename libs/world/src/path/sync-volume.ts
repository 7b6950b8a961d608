import { spawn } from "node:child_process";
import type { Folder } from "./folder.ts";

/** Syncs the volume of a folder: one call instead of one per file. */
export async function syncVolume(folder: Folder): Promise<void> {
  const path = folder.path.replace("/proc/self/", `/proc/${process.pid}/`);
  const code = await new Promise<number | null>((resolve, reject) => {
    const child = spawn("sync", ["--file-system", path], { stdio: "ignore" });
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) throw new Error(`sync --file-system ended with ${code}`);
}
