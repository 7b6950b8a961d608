// What the images hold and what not, asked of containers.

import assert from "node:assert/strict";
import type { Docker } from "./daemon.ts";
import { buildStage } from "./images.ts";
import type { Inside } from "./own-machine.ts";

const services = "svc:0.1.0";
const megabyte = 1e6;

/** Prints their sizes; with `isWhole` those of the other stages too, each with the program it is there for. */
export async function checkImages(docker: Docker, { isWhole }: Inside): Promise<void> {
  await hasNoMore(docker, services);
  await tellSize(docker, services);
  if (!isWhole) return;
  await buildStage(docker, "agents", "svc-agents:0.1.0");
  await hasNoMore(docker, "svc-agents:0.1.0");
  await tellSize(docker, "svc-agents:0.1.0");
  await buildStage(docker, "builder", "svc-builder:0.1.0");
  assert.match(await inContainer(docker, "svc-builder:0.1.0", "buildah --version"), /^buildah version/);
  await tellSize(docker, "svc-builder:0.1.0");
}

async function inContainer(docker: Docker, image: string, script: string): Promise<string> {
  const rights = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--network=none"];
  return docker.run("run", "--rm", ...rights, "--entrypoint", "/bin/sh", image, "-c", script);
}

/** Neither root nor what tests, compilers and the demo need; a list of what is inside. */
async function hasNoMore(docker: Docker, image: string): Promise<void> {
  const script = `id -u; grep -c '"purl": "pkg:npm/' sbom.cdx.json
find . -name '*.test.ts' -o -name '*.d.ts' -o -path './services/demo-server' -o -path './services/panel' | head -n 3
for name in typescript mineflayer vite puppeteer-core testcontainers; do [ ! -e node_modules/$name ] || echo $name; done`;
  const [user, listed, ...more] = (await inContainer(docker, image, script)).split("\n");
  assert.equal(user, "1000", `${image} runs as a user of its own`);
  assert.ok(Number(listed) >= 20, `${image} lists its packages`);
  assert.deepEqual(more, [], `${image} holds nothing else`);
}

async function tellSize(docker: Docker, image: string): Promise<void> {
  const [size, base] = await Promise.all(
    [image, "svc-test/node-base:1"].map(async (one) =>
      Number(await docker.run("image", "inspect", "--format", "{{.Size}}", one)),
    ),
  );
  const own = Math.round(((size ?? 0) - (base ?? 0)) / megabyte);
  console.log(`${image}: ${own} MB above a base of ${Math.round((base ?? 0) / megabyte)} MB`);
}
