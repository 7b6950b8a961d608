// What a thousand idle players cost the lobby and the login gate as they ship, each in a process of its own:
// growth of its memory from the first player to the thousandth, and processor time. At the gate every player holds a
// code, so each one is asked about once a second. Anchor: a process that only holds as many connections.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { nodeFlags } from "@svc/local-stack";
import { startInternalApi } from "../../../services/login-gate/src/testing/internal-api.ts";
import { root } from "../harness/anchors.ts";
import type { Bench, Goal } from "../harness/bench.ts";
import { type Child, startChild } from "../harness/child.ts";
import { residentMb, watchCpu } from "../harness/process-stats.ts";
import type { Row } from "../harness/report.ts";

const count = 1_000;
const secret = "bench";
const settleMs = 3_000;

type Cost = { growthMb: number; cores: number };
type Server = { pid: number; port: number; fill: (players: number) => Promise<void> };

/** Starts the service as the stack does; its log names the port. */
async function start(name: string, environment: Record<string, string>) {
  const main = join(root, "services", name, "src/main.ts");
  const env = {
    GAME_PORT: "0",
    SVC_HEALTH_PORT: "0",
    ...environment,
  };
  const child = spawn(process.execPath, [...nodeFlags, main], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { gamePort } = JSON.parse(line) as { gamePort?: number };
    if (gamePort === undefined) continue;
    child.stdout.resume();
    return { child, pid: child.pid ?? 0, port: gamePort };
  }
  throw new Error(`${name} did not start`);
}

async function end(child: ChildProcess): Promise<void> {
  child.kill("SIGTERM");
  await once(child, "exit");
}

async function hold(bench: Bench, players: Child, { pid, fill }: Server): Promise<Cost> {
  await fill(1);
  await delay(settleMs);
  const before = residentMb(pid);
  await fill(count - 1);
  await delay(settleMs);
  const [cpu, startedAt] = [watchCpu([pid]), performance.now()];
  await delay(bench.options.isQuick ? 5_000 : 20_000);
  const cores = cpu() / ((performance.now() - startedAt) * 1_000);
  const growthMb = residentMb(pid) - before;
  const present = await players.ask<number>("present");
  if (present !== count) throw new Error(`${count - present} of ${count} players were lost`);
  await players.ask("leave");
  return { growthMb, cores };
}

async function inService(
  bench: Bench,
  players: Child,
  { name, secretFile }: { name: string; secretFile: string },
): Promise<Cost> {
  await using face = await startInternalApi();
  const { child, pid, port } = await start(name, {
    SVC_API_BASE_URL: face.baseUrl,
    SVC_SERVICE_TOKEN: face.token,
    SVC_ROOT_DOMAIN: "example.com",
    SVC_FORWARDING_SECRET_FILE: secretFile,
  });
  const fill = (number: number) => players.ask<void>("enter", { port, count: number, secret });
  try {
    return await hold(bench, players, { pid, port, fill });
  } finally {
    await end(child);
  }
}

async function inAnchor(bench: Bench, players: Child, logDir: string): Promise<Cost> {
  const sockets = await startChild("anchors/idle-sockets.ts", { logDir });
  const port = await sockets.ask<number>("open");
  const fill = (number: number) => players.ask<void>("connect", { port, count: number });
  try {
    return await hold(bench, players, { pid: sockets.pid, port, fill });
  } finally {
    await sockets.stop();
  }
}

function rowsOf(name: string, ours: Cost, bare: Cost): Row[] {
  const common = { goal: "LIMBO", anchorName: "bare connections" };
  const limit = { bound: "at most", of: "figure" } as const;
  const what = `${count} idle players in the ${name}`;
  return [
    {
      ...{ ...common, what: `${what}, growth of memory`, unit: "MB" },
      ...{ ours: ours.growthMb, anchor: bare.growthMb, limit: { ...limit, goal: 100 } },
    },
    {
      ...{ ...common, what: `${what}, processor`, unit: "core" },
      ...{ ours: ours.cores, anchor: bare.cores, limit: { ...limit, goal: 0.2 } },
    },
  ];
}

export const idlePlayerMemory: Goal = {
  name: "LIMBO",
  title: "idle players in lobby and login gate",
  run: async (bench) => {
    const logDir = mkdtempSync(join(tmpdir(), "svc-bench-limbo-"));
    const players = await startChild("load/idle-players.ts", { logDir });
    try {
      const secretFile = join(logDir, "secret");
      writeFileSync(secretFile, secret);
      const bare = await inAnchor(bench, players, logDir);
      const rows: Row[] = [];
      for (const name of ["lobby", "login-gate"])
        rows.push(...rowsOf(name, await inService(bench, players, { name, secretFile }), bare));
      return rows;
    } finally {
      await players.stop();
      rmSync(logDir, { recursive: true, force: true });
    }
  },
};
