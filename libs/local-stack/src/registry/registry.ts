import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "../atomic-file.ts";
import { explainDiskFault } from "../error.ts";
import type { ProcessPlan } from "../process/plan.ts";

const { request } = process.getBuiltinModule("node:http");

type RegistryOptions = {
  /** Path of the program, see `findDockerRegistry`. */
  binary: string;
  /** Absolute path of a folder for images and the configuration; made when missing. */
  dataDir: string;
  port: number;
  /** Signs what clients carry from one part of an upload to the next. */
  secret: string;
};

/** Path of the registry's own configuration, which its garbage collection reads too. */
export function registryConfigFile(dataDir: string): string {
  return join(dataDir, "config.yml");
}

/** Loopback only, and no cache of blobs: it would name blobs that a garbage collection has deleted. */
function configText({ dataDir, port, secret }: RegistryOptions): string {
  return JSON.stringify({
    version: 0.1,
    log: { level: "warn", accesslog: { disabled: true } },
    storage: {
      filesystem: { rootdirectory: join(dataDir, "images") },
      delete: { enabled: true },
    },
    http: { addr: `127.0.0.1:${port}`, secret },
  });
}

/** Writes the configuration (0600) and says how to start the registry with it. */
export function prepareRegistry(options: RegistryOptions): ProcessPlan {
  const { dataDir, port } = options;
  try {
    mkdirSync(join(dataDir, "images"), { recursive: true, mode: 0o700 });
    writeFileAtomic(registryConfigFile(dataDir), configText(options));
  } catch (error) {
    throw explainDiskFault(error, dataDir);
  }
  return {
    command: options.binary,
    args: ["serve", registryConfigFile(dataDir)],
    cwd: "/",
    ready: { probe: () => probeRegistry(port) },
  };
}

/** Whether a registry answers at the base of its API. */
function probeRegistry(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = request({ host: "127.0.0.1", port, path: "/v2/", timeout: 1_000 }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    probe.on("timeout", () => probe.destroy(new Error("silent")));
    probe.on("error", () => resolve(false));
    probe.end();
  });
}
