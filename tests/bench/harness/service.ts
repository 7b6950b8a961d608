// A service process of the project: its main file, started the way the stack does, watched until it is ready.

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { nodeFlags } from "@svc/local-stack";
import { until } from "@svc/local-stack/testing";
import { root } from "./anchors.ts";

export type Service = {
  name: string;
  pid: number;
  /** Of the face, for a gateway. */
  port: number;
  /** From the start of the process to the first 200 of its /readyz. */
  bootMs: number;
  stop: () => Promise<void>;
};

type ServicePlan = {
  name: string;
  logDir: string;
  env: NodeJS.ProcessEnv;
  args?: readonly string[];
  timeoutMs?: number;
  /** Folder for a CPU profile of the process, written when it ends. */
  profileDir?: string | undefined;
};

const readyLine = /"health_port":(\d+)[^\n]*"msg":"ready"/;

/** Starts a service with its log in a file; answers when its /readyz does. */
export async function startService(plan: ServicePlan): Promise<Service> {
  const { name, logDir, env } = plan;
  const path = join(logDir, `${name}-${randomBytes(3).toString("hex")}.log`);
  const log = openSync(path, "a");
  const main = join(root, "services", name, "src", "main.ts");
  const args = [...profiling(plan), ...nodeFlags, main, ...(plan.args ?? [])];
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", log, log] });
  closeSync(log);
  const lines = () => readFileSync(path, "utf8");
  try {
    const healthPort = await until(
      () => {
        if (child.exitCode !== null)
          throw new Error(`${name} ended with ${child.exitCode}: ${lines().slice(-2_000)}`);
        return Number(readyLine.exec(lines())?.[1] ?? 0);
      },
      plan.timeoutMs ?? 30_000,
      `${name} to be ready`,
    );
    await until(
      async () => {
        const answer = await fetch(`http://127.0.0.1:${healthPort}/readyz`);
        await answer.arrayBuffer();
        return answer.ok;
      },
      30_000,
      `${name} to answer /readyz with 200`,
    );
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
  const bootMs = performance.now() - startedAt;
  const port = Number(/"port":(\d+)[^\n]*listening on the/.exec(lines())?.[1] ?? 0);
  return { name, pid: child.pid ?? 0, port, bootMs, stop: () => end(child) };
}

function profiling({ profileDir, name }: ServicePlan): string[] {
  if (profileDir === undefined) return [];
  return ["--cpu-prof", `--cpu-prof-dir=${profileDir}`, `--cpu-prof-name=${name}.cpuprofile`];
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((settle) => child.once("exit", settle));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 25_000);
  await exited;
  clearTimeout(timer);
}
