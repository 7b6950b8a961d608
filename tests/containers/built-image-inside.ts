// Runs inside (own-machine.ts), started by built-image.slow.test.ts.

import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "@svc/local-stack/testing";
import protocol from "minecraft-protocol";
import { GenericContainer, Wait } from "testcontainers";
import { landmark, startPackMaker } from "../flow/pack.ts";
import { blockNameAt, join as joinGame } from "../flow/player.ts";
import { type Answer, type Stack, send, startStack, withoutGame } from "../flow/stack.ts";
import { readInside } from "../namespaces/run.ts";
import { type Docker, startDaemon } from "./daemon.ts";
import { makeGameImage } from "./game-image.ts";
import { importBase } from "./images.ts";
import type { Inside } from "./own-machine.ts";
import { passwords, startRegistryPod } from "./registry-pod.ts";
import { timed } from "./timed.ts";

const inside = readInside<Inside>();
const motd = "The sky islands of Alice";

type Build = { status: string; error?: string; image_ref: string; image_digest?: string };
type Pushed = { reference: string; digest: string };

function bodyOf<T>(answer: Answer, status: number): T {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  return answer.body as T;
}

type User = keyof typeof passwords;

/** With the password that `docker login` was given. */
async function pushAs(docker: Docker, user: User, tag: string): Promise<void> {
  const config = join(inside.dir, `docker-${user}`);
  mkdirSync(config, { recursive: true });
  const as = (...args: string[]) => docker.run("--config", config, ...args);
  await as("login", `--username=${user}`, `--password=${passwords[user]}`, tag.split("/")[0] ?? "");
  await as("push", "--quiet", tag);
}

/** The gate gives a Docker daemon the rights of its user: the base of packs is the platform's. */
async function pushBase(docker: Docker, tag: string): Promise<void> {
  await assert.rejects(docker.run("push", tag), /no basic auth credentials/);
  await assert.rejects(pushAs(docker, "build", tag), /denied|may not write/);
  await pushAs(docker, "platform", tag);
}

/** A stack that pushes to a registry that it does not run. */
async function startBuilders(host: string): Promise<Stack> {
  const dataDir = join(inside.dir, "stack");
  mkdirSync(dataDir);
  const settings = [`registry.url=${host}`, "builds.submission_cooldown=0s", "builds.upload_cooldown=0s"];
  const env = {
    SVC_BUILD_TOKEN_FILE: join(dataDir, "tokens/build"),
    SVC_REGISTRY_PUSH_TOKEN: `build:${passwords.build}`,
    SVC_REGISTRY_PRUNE_TOKEN: `prune:${passwords.prune}`,
  };
  const args = [...withoutGame, ...settings.flatMap((setting) => ["--set", setting])];
  return startStack(args, dataDir, { env });
}

/** Hands a context in as a player does, and returns the submission. */
async function submit(stack: Stack, bytes: Buffer): Promise<{ id: string; context_sha256: string }> {
  const { external_base_url, panel_host } = stack.file();
  const host = `${panel_host.split(":")[0]}:${new URL(external_base_url).port}`;
  let cookie = "";
  const call = async (method: string, path: string, body?: unknown, more: Record<string, string> = {}) => {
    const headers = { host, ...more, ...(cookie && { cookie }) };
    const answer = await send(new URL(`/api/v1${path}`, external_base_url).href, { method, headers, body });
    cookie = answer.headers["set-cookie"]?.[0]?.split(";")[0] ?? cookie;
    return answer;
  };
  const path = "/api/v1/internal/account/link/code";
  const minted = await stack.internal("POST", path, { mc_uuid: randomUUID() });
  const { code } = bodyOf<{ code: string }>(minted, 201);
  bodyOf(await call("POST", "/auth/bind", { code }), 200);
  const created = await call("POST", "/me/submissions", { display_name: "Sky islands" });
  const { id } = bodyOf<{ id: string }>(created, 201);
  const upload = `/me/submissions/${id}/context/upload`;
  const headers = {
    "content-type": "application/octet-stream",
    "content-digest": `sha-256=:${createHash("sha256").update(bytes).digest("base64")}:`,
  };
  bodyOf(await call("PUT", `${upload}?offset=0`, bytes, headers), 200);
  return bodyOf(await call("POST", `${upload}/complete`), 200);
}

/** Approves what was handed in; resolves with what its build pushed. */
async function build(stack: Stack, bytes: Buffer): Promise<Pushed> {
  const { id, context_sha256 } = await submit(stack, bytes);
  const review = { expected_digest: context_sha256 };
  await stack.external("POST", `/api/v1/submissions/${id}/approve`, review).then((one) => bodyOf(one, 200));
  const ended = await until(
    async () => {
      const listed = await stack.external("GET", "/api/v1/submissions");
      const { submissions } = bodyOf<{ submissions: { id: string; build_id?: string }[] }>(listed, 200);
      const found = submissions.find((one) => one.id === id)?.build_id;
      if (found === undefined) return undefined;
      const one = bodyOf<Build>(await stack.external("GET", `/api/v1/images/build/${found}`), 200);
      return /^(succeeded|failed|cancelled)$/.test(one.status) ? one : undefined;
    },
    240_000,
    "the build to end",
  );
  assert.equal(ended.status, "succeeded", ended.error);
  return { reference: ended.image_ref, digest: ended.image_digest ?? "" };
}

/** A daemon that may read and not write: its client has a password that the gate does not know. */
async function pullAsReader(docker: Docker, reference: string): Promise<void> {
  await assert.rejects(docker.run("pull", reference), /no basic auth credentials/);
  const config = join(inside.dir, "docker-reader");
  mkdirSync(config, { recursive: true });
  const auth = Buffer.from("reader:unknown").toString("base64");
  const auths = { [reference.split("/")[0] ?? ""]: { auth } };
  writeFileSync(join(config, "config.json"), JSON.stringify({ auths }));
  await docker.run("--config", config, "pull", "--quiet", reference);
}

/** Resolves with the reference of just these bytes, which its tag names too. */
async function pull(docker: Docker, { reference, digest }: Pushed): Promise<string> {
  assert.match(digest, /^sha256:[0-9a-f]{64}$/);
  await pullAsReader(docker, reference);
  const pinned = `${reference.replace(/:[^:/]+$/, "")}@${digest}`;
  const digests = await docker.run("image", "inspect", "--format", "{{json .RepoDigests}}", reference);
  assert.deepEqual(JSON.parse(digests), [pinned], "the daemon has the image that the build recorded");
  return pinned;
}

/** The first process of the image answers with the pack's MOTD and its world, without rights and without a volume. */
async function play(image: string): Promise<void> {
  const log: string[] = [];
  await using game = await new GenericContainer(image)
    .withDroppedCapabilities("ALL")
    .withSecurityOpt("no-new-privileges")
    .withExposedPorts(25_565)
    .withLogConsumer((stream) => stream.on("data", (line) => log.push(String(line))))
    .withWaitStrategy(Wait.forLogMessage(/Done \(/))
    .start()
    .catch((error: Error) => {
      throw new Error(`${error.message}:\n${log.join("")}`);
    });
  const port = game.getMappedPort(25_565);
  const shown = await protocol.ping({ host: "127.0.0.1", port, version: "1.21.4" });
  assert.match(JSON.stringify(shown), new RegExp(motd));
  assert.equal((shown as { players: { max: number } }).players.max, 7);
  const alice = await joinGame(`127.0.0.1:${port}`, "alice").catch((error: Error) => {
    throw new Error(`${error.message}:\n${log.join("")}`);
  });
  const { x, y, z, block } = landmark;
  assert.equal(blockNameAt(alice, alice.bot.entity.position.clone().set(x, y, z)), block);
  await alice.leave();
}

/** A tag that names another image by now is noticed, and the digest still names the one that was built. */
async function moveTag(
  docker: Docker,
  { pushed, pinned, base }: { pushed: Pushed; pinned: string; base: string },
) {
  await docker.run("image", "rm", "--force", pushed.reference, pinned);
  await docker.run("tag", base, pushed.reference);
  await pushAs(docker, "platform", pushed.reference);
  await assert.rejects(pull(docker, pushed), /the image that the build recorded/);
  await pullAsReader(docker, pinned);
}

async function main(): Promise<void> {
  await using docker = await startDaemon(inside);
  process.env["DOCKER_HOST"] = docker.host;
  // It ends what a killed process left; here everything ends with the daemon.
  process.env["TESTCONTAINERS_RYUK_DISABLED"] = "true";
  await importBase(docker, inside);
  await using registry = await timed("registry and gate", () => startRegistryPod(docker, inside));
  const base = `${registry.host}/svc/game:1.21.4`;
  await timed("base image", () => makeGameImage(docker, inside, base));
  await timed("push of the base", () => pushBase(docker, base));
  const stack = await timed("stack", () => startBuilders(registry.host));
  try {
    await stack.becomeOwner();
    await using packs = await startPackMaker();
    // buildah leaves a folder that COPY makes to root; /data is there.
    const text = `FROM ${base}\nENV MAX_PLAYERS=7\nCOPY --chown=1000:1000 . /data/\n`;
    const { bytes } = await packs.pack(text, { "server.properties": `motd=${motd}\n` });
    const pushed = await timed("build, scan and push", () => build(stack, bytes));
    const pinned = await timed("pull", () => pull(docker, pushed));
    await timed("play", () => play(pinned));
    await moveTag(docker, { pushed, pinned, base });
  } finally {
    await stack.stop();
  }
}

try {
  await main();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
