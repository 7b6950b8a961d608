import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { defaultCacheDirs } from "../fetch/find.ts";
import { findFreePort } from "../ports/free-port.ts";
import { endProcess } from "../process/identity.ts";
import { launchReady } from "../process/launch.ts";
import { scratchDir } from "../testing/scratch.ts";
import { findDockerRegistry } from "./find.ts";
import { prepareRegistry } from "./registry.ts";

const repo = resolve(import.meta.dirname, "../../../..");

test("the registry that every start finds keeps a blob over a kill -9", async () => {
  using scratch = scratchDir();
  const cacheDirs = defaultCacheDirs(process.env, repo);
  const binary = await findDockerRegistry({ env: process.env, cacheDirs, progress: () => undefined });
  const port = await findFreePort();
  const plan = prepareRegistry({ binary, dataDir: join(scratch.path, "data"), port, secret: "x".repeat(24) });
  const start = () =>
    launchReady("registry", plan, { logPath: join(scratch.path, "registry.log"), timeoutMs: 20_000 });
  const kill = async ({ ref, exited }: Awaited<ReturnType<typeof start>>) => {
    await endProcess(ref, [{ signal: "SIGKILL", waitMs: 5_000 }]);
    await exited;
  };
  const base = `http://127.0.0.1:${port}/v2/packs/one/blobs`;
  const digest = "sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
  const first = await start();
  const { headers } = await fetch(`${base}/uploads/`, { method: "POST" });
  const stored = await fetch(`${headers.get("location")}&digest=${digest}`, { method: "PUT", body: "x" });
  assert.equal(stored.status, 201);
  await kill(first);
  const second = await start();
  assert.equal(await (await fetch(`${base}/${digest}`)).text(), "x");
  await kill(second);
  assert.doesNotMatch(readFileSync(plan.args[1] ?? "", "utf8"), /cache/);
});

test("a program that is too old or another one is refused by name", async () => {
  using scratch = scratchDir();
  const find = (file: string) =>
    findDockerRegistry({
      env: { SVC_DOCKER_REGISTRY: file },
      cacheDirs: [scratch.path],
      progress: () => undefined,
    });
  mkdirSync(scratch.path, { recursive: true });
  for (const [version, isGood] of [
    ["2.8.0", true],
    ["2.7.1", false],
    ["3.0.0", false],
  ] as const) {
    const file = join(scratch.path, version);
    writeFileSync(file, `#!/bin/sh\necho "docker-registry github.com/docker/distribution ${version}+ds1"\n`);
    chmodSync(file, 0o755);
    if (isGood) assert.equal(await find(file), file);
    else await assert.rejects(find(file), /and svc needs docker-registry 2\.8 or a later 2\.x/);
  }
  await assert.rejects(find("/bin/true"), /is not a docker-registry that runs here; correct or unset/);
});
