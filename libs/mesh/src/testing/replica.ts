// Starts replicas of lifecycle as processes of their own, for the tests of this library.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { TestNats } from "./test-nats.ts";

export type Replica = {
  ready: Promise<void>;
  /** What it wrote: `change <n>` for every change that it began. */
  output: () => string;
  /** Stops it without ending it: it holds its connections and answers nothing. */
  stop: () => void;
  resume: () => void;
  kill: () => Promise<void>;
};

/** A replica that answers every `look` and `change` with its name. */
export function startReplica(nats: TestNats, name: string): Replica {
  const script = fileURLToPath(new URL("./replica-process.ts", import.meta.url));
  const child = spawn(process.execPath, [script, nats.url, nats.passwords["lifecycle"] ?? "", name], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  // One that is stopped would outlive a test that failed.
  process.once("exit", () => child.kill("SIGKILL"));
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
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}
