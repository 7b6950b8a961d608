// Storage as a separate process, so that a test can kill it at any point.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { testProgram } from "@svc/config/test-program";
import { type Fixture, quick } from "./fixture.ts";

const main = testProgram(fileURLToPath(new URL("../main.ts", import.meta.url)));
const gated = testProgram(fileURLToPath(new URL("./step-gate.ts", import.meta.url)));

export type StorageProcess = {
  kill: () => Promise<void>;
  /** Hangs it until the returned function is called. */
  pause: () => () => void;
};

/** Stops a process without ending it; the returned function resumes it. */
export function pauseChild(child: ChildProcess | undefined): () => void {
  child?.kill("SIGSTOP");
  return () => void child?.kill("SIGCONT");
}

export type GatedProcess = StorageProcess & {
  /** Resolves when it is about to take that step (`step-names.ts`); it waits there until `proceed`. */
  pauseAt: (step: string) => Promise<void>;
  resume: () => void;
};

type Parts = Pick<Fixture, "nats" | "wire" | "dataDir">;

/** Resolves when it reports that it is ready. */
export async function startProcess(
  ground: Parts,
  overrides: readonly string[] = [],
): Promise<StorageProcess> {
  return (await start(main, ground, overrides)).process;
}

/** As `startProcess`, but it pauses at the steps that a test names. */
export async function startGated(ground: Parts, overrides: readonly string[]): Promise<GatedProcess> {
  const { process: running, child } = await start(gated, ground, overrides);
  const tell = (received: object) => void (child.connected && child.send(received));
  return {
    ...running,
    pauseAt: (stopAt) => {
      tell({ stopAt });
      return new Promise((resolve) => child.once("message", () => resolve()));
    },
    resume: () => tell({ proceed: true }),
  };
}

async function start(
  entry: string,
  { nats, wire, dataDir }: Parts,
  overrides: readonly string[],
): Promise<{ process: StorageProcess; child: ChildProcess }> {
  const child = spawn(process.execPath, [entry], {
    stdio: ["ignore", "pipe", "inherit", ...(entry === gated ? (["ipc"] as const) : [])],
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
  if (!child.stdout) throw new Error("it did not report that it is ready");
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
