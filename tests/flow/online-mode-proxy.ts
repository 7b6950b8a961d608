// A proxy in online mode: it verifies every player's name.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Stack } from "./stack.ts";

const main = resolve(import.meta.dirname, "../../services/proxy/src/main.ts");

/** A second proxy beside the one of a stack, in online mode; `port` is its own. */
export async function startStrictProxy(stack: Stack): Promise<{ port: number; stop: () => Promise<void> }> {
  const running = stack.file().processes.find(({ name }) => name === "proxy");
  const environment = readFileSync(`/proc/${running?.pid}/environ`, "utf8").split("\0");
  const pairs = environment.map((line) => line.split(/=(.*)/s, 2) as [string, string]);
  const change = {
    SVC_PROXY_LOCAL_NAMES: "false",
    SVC_PROXY_PORT: "0",
    SVC_PROXY_DIR: join(stack.dataDir, "strict-proxy"),
  };
  const env = { ...Object.fromEntries(pairs.filter(([name]) => name)), ...change };
  const child = spawn(process.execPath, [main], { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<void>((done) => child.once("exit", () => done()));
  for await (const line of createInterface(child.stdout)) {
    const { msg, port } = JSON.parse(line) as { msg: string; port?: number };
    if (msg !== "ready" || port === undefined) continue;
    const stop = () => {
      child.kill();
      return ended;
    };
    return { port, stop };
  }
  throw new Error("the second proxy ended before it was ready");
}
