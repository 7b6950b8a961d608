// Runs a file of Node beside a Docker daemon of its own: in a network and a process tree of their own, so that its bridges,
// packet filters and fixed ports meet nothing of the machine's, and everything ends with it. Lane `docker`.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { isWhole } from "@svc/config/testing";
import { findBinary } from "@svc/registry/testing";
import { runInNamespaces } from "../namespaces/run.ts";
import { folderInMemory, runFolderVariable } from "../runner/folder-in-memory.ts";
import { ensureBase } from "./base.ts";
import { startForwarder } from "./forwarder.ts";

/** What the file inside is told. */
export type Inside = {
  /** For everything that it makes. */
  dir: string;
  /** For images and containers. */
  dockerDir: string;
  /** Archive of the root of the base image. */
  base: string;
  /** Whether the whole of a test is played. */
  isWhole: boolean;
};

/** Why it cannot run here, or false. */
export function reasonToSkip(): string | false {
  if (process.env["SVC_DOCKER_LANE"] === undefined) return "lane docker: SVC_DOCKER_LANE is not set";
  if (process.getuid?.() !== 0) return "lane docker: only root may give a daemon a network of its own";
  const missing = ["dockerd", "docker", "docker-compose", "debootstrap"].filter((one) => !findBinary(one));
  return missing.length > 0 && `lane docker: ${missing.join(", ")} not on PATH (apt-get install)`;
}

const namespaces = {
  more: ["--pid", "--fork", "--kill-child", "--mount-proc"],
  prepare: ["mount -t tmpfs tmpfs /run", "mkdir /run/netns"],
  hasInit: true,
};

/** Runs a file there, and resolves with its exit code and what it printed. */
async function runApart(file: string, inside: Inside): Promise<{ code: number; output: string }> {
  const forwarder = await startForwarder(join(inside.dir, "forward.sock"));
  const ended = await runInNamespaces(file, namespaces, inside);
  forwarder.close();
  forwarder.closeAllConnections();
  return ended;
}

/** More than a daemon writes. In memory: a disk takes half a minute to remove the packages of what was built. */
const dockerBytes = 8 * 2 ** 30;

/** The test that a file inside passes; its lines become diagnostics. */
export async function passApart(context: TestContext, file: string): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "svc-containers-"));
  const inMemory = folderInMemory(dockerBytes) && process.env[runFolderVariable];
  const dockerDir = mkdtempSync(join(inMemory ?? dir, "docker-"));
  try {
    const { code, output } = await runApart(join(import.meta.dirname, file), {
      dir,
      dockerDir,
      base: await ensureBase(),
      isWhole,
    });
    if (code !== 0) throw new Error(output);
    for (const line of output.trim().split("\n")) context.diagnostic(line);
  } finally {
    for (const one of [dockerDir, dir]) rmSync(one, { recursive: true, force: true });
  }
}
