// A production gateway as a separate process, so that a test can kill it.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { testProgram } from "@svc/config/test-program";
import type { Face } from "@svc/proto";
import type { Fixture } from "./fixture.ts";
import { pauseChild } from "./storage-process.ts";

export type GatewayProcess = {
  /** Undefined while it is not running. */
  port: () => number | undefined;
  kill: () => Promise<void>;
  /** Hangs it until the returned function is called. */
  pause: () => () => void;
  /** Starts it again. */
  start: () => Promise<void>;
};

export async function startGateway(face: Face, { nats }: Pick<Fixture, "nats">): Promise<GatewayProcess> {
  const name = `gateway-${face}` as const;
  const main = testProgram(fileURLToPath(new URL(`../../../${name}/src/main.ts`, import.meta.url)));
  let port: number | undefined;
  let end = async () => {};
  let running: ChildProcess | undefined;
  const start = async () => {
    const child = spawn(process.execPath, [main], {
      stdio: ["ignore", "pipe", "inherit"],
      env: {
        // biome-ignore lint/style/noProcessEnv: a child needs the path of this process
        ...process.env,
        SVC_NATS_URL: nats.url,
        SVC_NATS_USER: name,
        SVC_NATS_PASSWORD: nats.passwords[name] ?? "",
        SVC_LISTEN: "127.0.0.1:0",
        SVC_HEALTH_PORT: "0",
      },
    });
    running = child;
    const ready = Promise.withResolvers<number>();
    let heard = 0;
    createInterface({ input: child.stdout }).on("line", (line) => {
      const { port: received, msg } = JSON.parse(line) as { port?: number; msg?: string };
      if (msg?.includes("listening on the")) heard = received ?? 0;
      if (msg === "ready") ready.resolve(heard);
    });
    child.once("exit", (code) => ready.reject(new Error(`${name} ended with code ${code}`)));
    end = async () => {
      port = undefined;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    };
    port = await ready.promise;
  };
  await start();
  return { port: () => port, kill: () => end(), pause: () => pauseChild(running), start };
}
