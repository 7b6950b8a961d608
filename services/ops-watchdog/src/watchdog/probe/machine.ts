// The machine the watchdog runs on: disks and memory.

import { readFile, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { type Finding, finding } from "../finding.ts";
import { type Probe, UnknownError } from "./probe.ts";

const low = 0.15;
const veryLow = 0.05;
const lowMemory = 0.1;

export const disks: Probe = {
  prefixes: ["disk/"],
  look: async ({ settings }) => {
    const { watched_dirs, bundle_dir, state_dir } = settings.ops_watchdog;
    const seen = new Set<number>();
    const findings: Finding[] = [];
    const unknown: { prefix: string; reason: string }[] = [];
    for (const path of [...watched_dirs, bundle_dir, state_dir]) {
      try {
        const existing = await nearest(path);
        const { dev } = await stat(existing);
        // Folders of one file system are one alert.
        if (seen.has(dev)) continue;
        seen.add(dev);
        const { bavail, blocks } = await statfs(existing);
        if (blocks > 0) findings.push(...judgeDisk(path, bavail / blocks));
      } catch (error) {
        unknown.push({ prefix: `disk/${path}`, reason: (error as Error).message });
      }
    }
    return { findings, unknown };
  },
};

/** The folder, or the lowest one above it that exists. */
async function nearest(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) {
    const isThere = await stat(at).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT" && at !== "/") return false;
        throw error;
      },
    );
    if (isThere) return at;
  }
}

export function judgeDisk(path: string, freeShare: number): Finding[] {
  if (freeShare >= low) return [];
  const isCritical = freeShare < veryLow;
  return [
    finding(
      {
        ...{ key: `disk/${path}`, severity: isCritical ? "critical" : "warning" },
        forMinutes: isCritical ? 5 : 15,
        hint: {
          en: "Free some space or enlarge the volume: backups stop first, then worlds cannot be saved.",
          zh: "请清理空间或扩容：空间不足时先停止备份，随后世界将无法保存。",
        },
      },
      { en: "The disk of {path} has {percent} % left.", zh: "{path} 所在磁盘仅剩 {percent} %。" },
      { path, percent: Math.floor(freeShare * 100) },
    ),
  ];
}

export const memory: Probe = {
  prefixes: ["memory"],
  look: async () => {
    const text = await readFile("/proc/meminfo", "latin1").catch(() => "");
    const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1] ?? 0);
    const [total, available] = [kib("MemTotal"), kib("MemAvailable")];
    if (total === 0) throw new UnknownError("/proc/meminfo cannot be read");
    return { findings: judgeMemory(available / total) };
  },
};

export function judgeMemory(availableShare: number): Finding[] {
  if (availableShare >= lowMemory) return [];
  return [
    finding(
      {
        ...{ key: "memory", severity: "warning", forMinutes: 15 },
        hint: {
          en: "Stop servers that nobody plays on, or add memory.",
          zh: "请停止无人游玩的服务器，或增加内存。",
        },
      },
      {
        en: "This machine has {percent} % of its memory available.",
        zh: "本机可用内存仅剩 {percent} %。",
      },
      { percent: Math.floor(availableShare * 100) },
    ),
  ];
}
