// The service as its own process, so that a test can end it with SIGKILL in the middle of whatever it does.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { quick, type Stage } from "./stage.ts";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));

export type Process = { kill: () => Promise<void> };

/** Resolves when it says that it is ready. */
export async function startProcess(
  { nats, wire, dataDir }: Pick<Stage, "nats" | "wire" | "dataDir">,
  overrides: readonly string[] = [],
): Promise<Process> {
  const child = spawn(process.execPath, [main], {
    stdio: ["ignore", "pipe", "inherit"],
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
  const lines = createInterface({ input: child.stdout });
  const ready = Promise.withResolvers<void>();
  lines.on("line", (line) => line.includes('"msg":"ready"') && ready.resolve());
  child.once("exit", (code) => ready.reject(new Error(`storage ended with code ${code}`)));
  await ready.promise;
  return {
    kill: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}
