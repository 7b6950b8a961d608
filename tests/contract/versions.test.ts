// What is shipped has exact versions without known vulnerabilities, and nothing that only the demo server or tests need.

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { isSupportedNats } from "@svc/proto";
import { natsServer } from "../../libs/local-stack/src/nats/program.ts";

const root = resolve(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const { version } = JSON.parse(read("package.json")) as { version: string };

const files = [
  "compose.yaml",
  ...globSync("deploy/kubernetes/**/*.yaml", { cwd: root }),
  "deploy/images/Dockerfile",
];
const images = files.flatMap((file) => {
  const text = read(file);
  const stages = [...text.matchAll(/^FROM \S+ AS (\S+)/gm)].map((found) => found[1]);
  return (
    [...text.matchAll(/^\s*(?:- )?(?:image:|FROM|ARG \w+_IMAGE=)\s*["']?([^\s"']+)/gm)]
      .map((found) => found[1] ?? "")
      // A stage of this file, or an argument with a default above.
      .filter((image) => !stages.includes(image) && !image.startsWith("$"))
      .map((image) => ({ file, image }))
  );
});

test("the images of svc are those of this version", () => {
  const own = images.filter(({ image }) => /^svc(-demo)?[:@]/.test(image));
  assert.ok(own.length >= 6, `only ${own.length} images were found`);
  assert.deepEqual(
    own.filter(({ image }) => !image.endsWith(`:${version}`)),
    [],
  );
});

test("every named or downloaded nats-server has no known vulnerability", () => {
  const ofImages = images.flatMap(({ image }) => /^nats:([\d.]+)/.exec(image)?.[1] ?? []);
  assert.ok(ofImages.length >= 2);
  const named = [...ofImages, natsServer.release.version, natsServer.pool.version];
  assert.deepEqual(
    named.filter((one) => !isSupportedNats(one)),
    [],
  );
});

for (const [reported, isSupported] of [
  ["2.9.10", false],
  ["2.10.27", false],
  ["2.11.15", false],
  ["2.11.16", true],
  ["2.12.6", false],
  ["2.12.7", true],
  ["2.12.10", true],
  ["2.13.0", true],
  ["2.14.0-RC.1", true],
  ["3.0.0", true],
  ["1.99.99", false],
  ["unknown", false],
  ["", false],
] as const)
  test(`nats-server "${reported}" is ${isSupported ? "accepted" : "refused"}`, () =>
    assert.equal(isSupportedNats(reported), isSupported));

type Locked = { packages: Record<string, { dev?: boolean; link?: boolean }> };

test("npm ci --omit=dev installs nothing of the demo game server and of test clients", () => {
  const { packages } = JSON.parse(read("package-lock.json")) as Locked;
  const shipped = Object.entries(packages)
    .filter(([path, entry]) => path.includes("node_modules/") && entry.dev !== true && entry.link !== true)
    .map(([path]) => path.replace(/^.*node_modules\//, ""));
  assert.ok(shipped.includes("fastify"), "the lock is read as it is meant");
  const games = /^(flying-squid|mineflayer|minecraft-.*|prismarine-.*|node-minecraft-.*|@azure\/msal-.*)$/;
  assert.deepEqual(
    shipped.filter((name) => games.test(name)),
    [],
  );
});
