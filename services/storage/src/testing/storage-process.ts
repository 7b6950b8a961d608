// The service as its own process, so that a test can end it with SIGKILL in the middle of whatever it does.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { quick, type Stage } from "./fixture.ts";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));
const stepped = fileURLToPath(new URL("./step-gate.ts", import.meta.url));

export type Process = {
  kill: () => Promise<void>;
  /** Hangs it until the returned function is called. */
  pause: () => () => void;
};

/** Stops a process without ending it; the returned function lets it go on. */
export function pauseChild(child: ChildProcess | undefined): () => void {
  child?.kill("SIGSTOP");
  return () => void child?.kill("SIGCONT");
}

export type SteppedProcess = Process & {
  /** Resolves when it is about to make that step (`steps.ts`); it waits there until `goOn`. */
  stopAt: (step: string) => Promise<void>;
  goOn: () => void;
};

type Ground = Pick<Stage, "nats" | "wire" | "dataDir">;

/** Resolves when it says that it is ready. */
export async function startProcess(ground: Ground, overrides: readonly string[] = []): Promise<Process> {
  return (await start(main, ground, overrides)).process;
}

/** As `startProcess`, and it stops where a test says so. */
export async function startStepped(ground: Ground, overrides: readonly string[]): Promise<SteppedProcess> {
  const { process: running, child } = await start(stepped, ground, overrides);
  const tell = (told: object) => void (child.connected && child.send(told));
  return {
    ...running,
    stopAt: (stopAt) => {
      tell({ stopAt });
      return new Promise((resolve) => child.once("message", () => resolve()));
    },
    goOn: () => tell({ goOn: true }),
  };
}

async function start(
  entry: string,
  { nats, wire, dataDir }: Ground,
  overrides: readonly string[],
): Promise<{ process: Process; child: ChildProcess }> {
  const child = spawn(process.execPath, [entry], {
    stdio: ["ignore", "pipe", "inherit", ...(entry === stepped ? (["ipc"] as const) : [])],
    env: {
      // biome-ignore lint/style/noProcessEnv: a child needs the path of this process
      ...process.env,
      SVC_NATS_URL: nats.url,
      SVC_NATS_USER: "storage",
      SVC_NATS_PASSWORD: nats.passwords["storage"] ?? "",
      SVC_DATABASE_URL: wire.url,
      SVC_KUBECONFIG: join(dataDir, "kubeconfig.storage"),
      SVC_HEALTH_PORT: "0",
      SVC_SET: [...quick, ...overrides].join("\n"),
    },
  });
  if (!child.stdout) throw new Error("it says nothing");
  const lines = createInterface({ input: child.stdout });
  const ready = Promise.withResolvers<void>();
  lines.on("line", (line) => line.includes('"msg":"ready"') && ready.resolve());
  child.once("exit", (code) => ready.reject(new Error(`storage ended with code ${code}`)));
  await ready.promise;
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  };
  return { process: { kill, pause: () => pauseChild(child) }, child };
}
