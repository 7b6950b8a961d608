// The daemon of a test of lane `docker`, and what is asked of it on the command line. Runs inside (own-machine.ts).

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { until } from "@svc/local-stack/testing";
import { relay } from "../namespaces/relay.ts";
import type { Inside } from "./own-machine.ts";

/** Address of this network in the network of containers. */
export const machine = "172.17.0.1";
const forwardPort = 3128;

export type Docker = AsyncDisposable & {
  /** `DOCKER_HOST` of programs. */
  host: string;
  /** Folder of a named volume. */
  volume: (name: string) => string;
  /** Runs `docker` and resolves with what it printed. */
  run: (...args: string[]) => Promise<string>;
  /** Builds an image whose steps reach the internet. */
  build: (tag: string, args: string[]) => Promise<void>;
};

const runProgram = promisify(execFile);
const mostOutput = 1 << 26;
// Debian's own client has BuildKit without a plugin, which skips stages that nobody asked for.
const client = existsSync("/usr/bin/docker") ? "/usr/bin/docker" : "docker";

/** Resolves once it answers. */
export async function startDaemon({ dir, dockerDir }: Inside): Promise<Docker> {
  const at = (name: string) => join(dockerDir, name);
  const host = `unix://${join(dir, "docker.sock")}`;
  const folders = [
    "--data-root",
    at("data"),
    "--exec-root",
    at("exec"),
    "--pidfile",
    join(dir, "docker.pid"),
  ];
  const log = join(dir, "docker.log");
  const daemon = spawn("dockerd", [...folders, "--host", host], { stdio: ["ignore", "pipe", "pipe"] });
  const written = createWriteStream(log);
  for (const stream of [daemon.stdout, daemon.stderr]) stream.pipe(written, { end: false });
  const env = { ...process.env, DOCKER_HOST: host };
  const run: Docker["run"] = async (...args) => {
    const { stdout } = await runProgram(client, args, { env, maxBuffer: mostOutput });
    return stdout.trim();
  };
  const answers = () =>
    run("version").then(
      () => true,
      () => false,
    );
  await until(answers, 30_000, "dockerd").catch(() => {
    throw new Error(`dockerd did not start: ${readFileSync(log, "utf8").slice(-2_000)}`);
  });
  const forwarder = await relay({ host: machine, port: forwardPort }, join(dir, "forward.sock"));
  const proxy = `http://${machine}:${forwardPort}`;
  const proxies = ["http_proxy", "https_proxy"].flatMap((name) => ["--build-arg", `${name}=${proxy}`]);
  return {
    host,
    run,
    volume: (name) => at(`data/volumes/${name}/_data`),
    build: async (tag, args) => {
      const words = ["build", "--quiet", "--tag", tag, ...proxies, ...args];
      const options = { env: { ...env, DOCKER_BUILDKIT: "1" }, maxBuffer: mostOutput };
      await runProgram(client, words, options).catch((error: Error & { stderr?: string }) => {
        throw new Error(`docker build of ${tag}: ${(error.stderr ?? error.message).slice(-4_000)}`);
      });
    },
    [Symbol.asyncDispose]: async () => {
      forwarder.close();
      daemon.kill("SIGTERM");
      if (daemon.exitCode === null) await once(daemon, "exit");
    },
  };
}
