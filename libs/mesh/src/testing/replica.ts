// Starts replicas of lifecycle in processes of their own.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { TestNats } from "./test-nats.ts";

export type Replica = {
  ready: Promise<void>;
  /** Its output: `change <n>` for every change that it started. */
  output: () => string;
  /** Suspends it: it keeps its connections and answers nothing. */
  stop: () => void;
  resume: () => void;
  kill: () => Promise<void>;
};

/** A replica that answers every `read` and `change` with its name. */
export function startReplica(nats: TestNats, name: string): Replica {
  const script = fileURLToPath(new URL("./replica-process.ts", import.meta.url));
  const child = spawn(process.execPath, [script, nats.url, nats.passwords["lifecycle"] ?? "", name], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  // A suspended process would outlive a failed test.
  const killAtExit = () => void child.kill("SIGKILL");
  process.once("exit", killAtExit);
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  return {
    ready: once(child.stdout, "data").then(() => undefined),
    output: () => output,
    stop: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    kill: async () => {
      process.off("exit", killAtExit);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}
