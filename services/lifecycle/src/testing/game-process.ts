// The process of a game on the node of the test, and the files in which the node keeps its log.

import { appendFileSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { until } from "@svc/mesh/testing";
import type { TestCluster } from "./fixture.ts";

type GameProcess = {
  freeze: () => void;
  /** False for one that nobody has waited for yet. */
  isAlive: () => boolean;
  /** Adds a line to its log, with a time of its own, Unix milliseconds. The process must be frozen. */
  says: (line: string, atMs: number) => Promise<void>;
};

/** The newest run of the game's container in a pod. */
export function gameProcessOf({ serviceKubeconfig }: TestCluster, podUid: string): GameProcess {
  const runs = join(dirname(serviceKubeconfig), "pods", podUid, "containers", "minecraft", "runs");
  const newest = Math.max(...readdirSync(runs).map(Number));
  const at = (name: string) => join(runs, String(newest), name);
  const read = (name: string) => readFileSync(at(name), "utf8");
  const pid = Number(read("pid"));
  return {
    freeze: () => void process.kill(pid, "SIGSTOP"),
    isAlive: () => {
      try {
        return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
      } catch {
        return false;
      }
    },
    says: async (line, atMs) => {
      const before = read("times");
      appendFileSync(at("log"), `${line}\n`);
      await until(() => read("times").length > before.length);
      const [end = ""] = read("times").slice(before.length).split(" ");
      writeFileSync(at("times.next"), `${before}${end} ${atMs}\n`);
      renameSync(at("times.next"), at("times"));
    },
  };
}
