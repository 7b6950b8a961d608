// A registry for tests: docker-registry when it is on PATH, else one in memory.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { Readable } from "node:stream";
import { findFreePort } from "@svc/local-stack";
import { until } from "@svc/local-stack/testing";
import { digestOf } from "../blob.ts";
import { mediaTypes } from "../manifest.ts";
import { openRegistry } from "../registry.ts";
import { startMemoryRegistry } from "./memory-registry.ts";

export type TestRegistry = {
  /** As references and `[registry] url` write it. */
  host: string;
  isReal: boolean;
  /** Stores an image of one layer under a tag, with members of its configuration; returns its digest. */
  push: (path: string, tag: string, configuration?: object) => Promise<string>;
  stop: () => Promise<void>;
};

export async function startTestRegistry(): Promise<TestRegistry> {
  const binary = findBinary("docker-registry");
  if (binary !== undefined) return startReal(binary);
  const { host, stop } = await startMemoryRegistry();
  return { host, isReal: false, push: pusher(host), stop };
}

/** Path of a program that tests use where it is installed. */
export function findBinary(name: string): string | undefined {
  // biome-ignore lint/style/noProcessEnv: PATH says whether the peer is installed
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

async function startReal(binary: string): Promise<TestRegistry> {
  const dir = mkdtempSync(join(tmpdir(), "svc-registry-"));
  const host = `127.0.0.1:${await findFreePort()}`;
  const config = join(dir, "config.yml");
  const storage = `storage:\n  delete:\n    enabled: true\n  filesystem:\n    rootdirectory: ${join(dir, "data")}\n`;
  writeFileSync(config, `version: 0.1\nlog:\n  level: error\n${storage}http:\n  addr: ${host}\n`);
  const child = spawn(binary, ["serve", config], { stdio: "ignore" });
  await until(() => isUp(host));
  return { host, isReal: true, push: pusher(host), stop: () => stop(child, dir) };
}

function isUp(host: string): Promise<boolean> {
  return fetch(`http://${host}/v2/`).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.status === 200;
    },
    () => false,
  );
}

async function stop(child: ChildProcess, dir: string): Promise<void> {
  const exited = once(child, "exit");
  child.kill();
  await exited;
  rmSync(dir, { recursive: true, force: true });
}

let pushed = 0;

function pusher(host: string): TestRegistry["push"] {
  const registry = openRegistry({ host, plainHttp: true });
  return async (path, tag, configuration = {}) => {
    const put = async (text: string) => {
      const bytes = Buffer.from(text);
      const blob = { digest: digestOf(bytes), size: bytes.length };
      await registry.putBlob(path, { ...blob, open: () => Readable.from([bytes]) });
      return blob;
    };
    const config = await put(JSON.stringify({ architecture: "amd64", os: "linux", ...configuration }));
    const layer = await put(`layer ${pushed++}`);
    const bytes = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: mediaTypes.manifest,
        config: { mediaType: mediaTypes.config, ...config },
        layers: [{ mediaType: mediaTypes.layer, ...layer }],
      }),
    );
    return registry.putManifest(path, tag, { mediaType: mediaTypes.manifest, bytes });
  };
}
