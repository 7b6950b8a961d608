// The embedded cluster as a separate process, so that a test can kill it and start it again on its data.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { testProgram } from "@svc/config/test-program";
import { type StartCluster, writeImages } from "./fixture.ts";
import { pauseChild } from "./storage-process.ts";

const main = testProgram(
  fileURLToPath(new URL("../../../../libs/local-cluster/src/main.ts", import.meta.url)),
);

export type ClusterProcess = {
  /** For `openFixture`. */
  start: StartCluster;
  kill: () => Promise<void>;
  /** Hangs it, not the containers it runs, until the returned function is called. */
  pause: () => () => void;
  /** Starts it again at the same address; resolves when it answers. */
  restart: () => Promise<void>;
};

export function createClusterProcess(): ClusterProcess {
  let args: string[] = [];
  let port = "0";
  let child: ChildProcess | undefined;
  const end = async (signal: "SIGKILL" | "SIGTERM") => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  };
  const restart = async () => {
    child = spawn(process.execPath, [main, ...args, "--port", port], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const { stdout } = child;
    if (!stdout) throw new Error("the cluster did not report that it is ready");
    const ready = Promise.withResolvers<string>();
    createInterface({ input: stdout }).on("line", (line) => {
      const url = / ready at (\S+)/.exec(line)?.[1];
      if (url !== undefined) ready.resolve(url);
    });
    child.once("exit", (code) => ready.reject(new Error(`the cluster ended with code ${code}`)));
    port = new URL(await ready.promise).port;
  };
  return {
    start: async (dataDir, programs) => {
      const images = writeImages(dataDir, programs);
      const account = ["--service-account", "svc/storage"];
      args = ["--data", dataDir, "--images", images, ...account, "--crash-backoff-ms", "200"];
      await restart();
      return { close: () => end("SIGTERM") };
    },
    kill: () => end("SIGKILL"),
    pause: () => pauseChild(child),
    restart,
  };
}
