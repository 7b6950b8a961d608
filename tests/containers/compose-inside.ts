// Runs inside (own-machine.ts), started by compose.sampled.test.ts: builds the images, starts compose.yaml and plays on it.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { until } from "@svc/local-stack/testing";
import { startSessionServer } from "@svc/minecraft/testing";
import { noScheduledBackup, type Stack, type StackFile } from "../flow/stack.ts";
import { visit } from "../flow/visitor.ts";
import { installedStack } from "../kube/installed-stack.ts";
import { playMainFlow } from "../kube/main-flow.ts";
import { relay } from "../namespaces/relay.ts";
import { readInside } from "../namespaces/run.ts";
import { readCompose, withoutDigest } from "./compose-file.ts";
import { becomeHealthy, checkContainment, killContainer } from "./containment.ts";
import { type Docker, machine, startDaemon } from "./daemon.ts";
import { checkImages } from "./image-facts.ts";
import { buildStage, importBase, makeNatsImage, makePostgresImage } from "./images.ts";
import type { Inside } from "./own-machine.ts";
import { addOwnKey, movesFiles } from "./sftp-inside.ts";
import { timed } from "./timed.ts";

const repo = resolve(import.meta.dirname, "../..");
const project = "svc";
const inside = readInside<Inside>();

type Service = {
  image: string;
  build?: { target?: string };
  environment?: Record<string, string>;
  restart?: string;
};
type Compose = ReturnType<typeof readCompose<Service>>;

/** compose.yaml with settings of the test without the `name` that the Compose of Debian does not know. */
function composeFor(sessionServer: string): Compose {
  const { name: _, ...compose } = readCompose<Service>();
  const settings = [
    noScheduledBackup,
    "lifecycle.stop_notice=1s",
    "lifecycle.wake_cooldown=0s",
    "lifecycle.arrival_window=2s",
    `identity.mojang_session_url=${sessionServer}/session/minecraft/hasJoined`,
  ];
  for (const service of Object.values(compose.services)) {
    service.image = withoutDigest(service.image);
    if (service.build !== undefined)
      service.environment = { ...service.environment, SVC_SET: settings.join("\n") };
  }
  return compose;
}

/** Builds every image that the file names, the others from what is here. */
async function makeImages(docker: Docker, { services }: Compose): Promise<void> {
  await importBase(docker, inside);
  const stages = new Map(
    Object.values(services).flatMap(({ image, build }) =>
      build === undefined ? [] : [[image, build.target ?? "services"]],
    ),
  );
  for (const [tag, stage] of stages) await timed(`build ${tag}`, () => buildStage(docker, stage, tag));
  await makePostgresImage(docker, inside, services["postgres"]?.image ?? "");
  await makeNatsImage(docker, inside, services["nats"]?.image ?? "");
}

/** What stack.json says of a local stack. */
function fileOf(docker: Docker): Omit<StackFile, "setup_url"> & { setup_url: string } {
  const [config, data] = [docker.volume(`${project}_config`), docker.volume(`${project}_data`)];
  const token = (caller: string) => readFileSync(join(config, "tokens", caller), "utf8").trim();
  const mails = join(data, "mail");
  mkdirSync(mails, { recursive: true });
  return {
    internal_base_url: "",
    external_base_url: "http://127.0.0.1:8080",
    root_domain: "svc.localhost",
    panel_host: "console.svc.localhost",
    admin_host: "op.console.svc.localhost",
    setup_url: readFileSync(join(data, "setup-url"), "utf8").trim(),
    tokens: {
      velocity: token("velocity"),
      limbo: token("limbo"),
      build: token("build"),
      ops: token("ops"),
      sftp: token("sftp"),
    },
    nats_url: "",
    database_url: "",
    kubeconfig: "",
    mail: { smtp_url: "", dir: mails, page: "" },
    game: { host: "127.0.0.1", port: 25_565 },
    processes: [],
  };
}

const forward = `const net = require("node:net");
for (const port of [4222, 8081]) net.createServer((client) => {
  const onward = net.connect(port, "127.0.0.1");
  client.pipe(onward).pipe(client);
  for (const one of [client, onward]) one.on("error", () => undefined);
}).listen(10_000 + port, "0.0.0.0");`;

/** NATS and the internal face listen for their neighbours alone; the test, and commands of operators, get a way to them. */
async function openInside(docker: Docker): Promise<{ nats: string; internal: string; close: () => void }> {
  const about = (what: string) => docker.run("inspect", "--format", what, `${project}_network_1`);
  const host = await about("{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}");
  const network = `--net=/proc/${await about("{{.State.Pid}}")}/ns/net`;
  const child = spawn("nsenter", [network, process.execPath, "--eval", forward], { stdio: "ignore" });
  const password = readFileSync(join(docker.volume(`${project}_config`), "secrets/nats-operator"), "utf8");
  return {
    nats: `nats://operator:${password.trim()}@${host}:14222`,
    internal: `http://${host}:18081`,
    close: () => void child.kill(),
  };
}

async function letsIn(stack: Stack): Promise<boolean> {
  const scout = await visit(stack, "scout", stack.file().root_domain).catch(() => undefined);
  await scout?.leave();
  // The proxy lets few in at a time from one address.
  await delay(2_000);
  return scout !== undefined;
}

async function play(docker: Docker, staying: readonly string[], sessionServer: string): Promise<void> {
  const answers = () =>
    fetch("http://127.0.0.1:8080/healthz").then(
      ({ status }) => status < 500,
      () => false,
    );
  await timed("until the gateway answers", () => until(answers, 300_000, "the external gateway"));
  const link = join(docker.volume(`${project}_data`), "setup-url");
  await until(() => existsSync(link), 180_000, "the setup link");
  await timed("until all are healthy", () => becomeHealthy(docker, project));
  await checkContainment(docker, { project, names: staying });
  await checkPorts();
  const opened = await openInside(docker);
  try {
    const file = { ...fileOf(docker), nats_url: opened.nats, internal_base_url: opened.internal };
    const stack = installedStack({ dir: inside.dir, file, sessionServer });
    await stack.setUp();
    const key = await addOwnKey(stack);
    await until(() => letsIn(stack), 180_000, "the login gate to let players in");
    const { seconds } = await playMainFlow(stack, inside);
    for (const [what, took] of Object.entries(seconds)) console.log(`${what}: ${took} s`);
    await movesFiles(docker, { project, stack, key });
    await survivesItsCluster(docker, stack);
  } finally {
    opened.close();
  }
}

/** The network belongs to another container, so what the killed one published and listened on is there again. */
async function survivesItsCluster(docker: Docker, stack: Stack): Promise<void> {
  await killContainer(docker, project, "cluster");
  const makes = async () => (await stack.svc("server", "create", "after")).code === 0;
  await until(makes, 180_000, "a server to be made");
  const woken = await stack.svc("server", "wake", "after", "--wait");
  assert.equal(woken.code, 0, `${woken.stderr}${woken.stdout}`);
  console.log("the others went on while the embedded cluster was killed");
}

/** Mails are read on this machine, as localhost; the internal face is not there. */
async function checkPorts(): Promise<void> {
  const mails = await fetch("http://127.0.0.1:8025/messages");
  assert.equal(mails.status, 200);
  await mails.body?.cancel();
  await assert.rejects(fetch("http://127.0.0.1:8081/healthz"), "the internal face is not published");
}

/** Volumes that root owns, as it did before containers lost their rights: what to do is said, and the page's command does it. */
async function checkUpgrade(docker: Docker, run: (...args: string[]) => Promise<unknown>): Promise<void> {
  const write = () => run("run", "--rm", "-T", "--no-deps", "config");
  await write();
  const page = readFileSync(join(repo, "docs/reference/compose.md"), "utf8");
  const [, ...words] = /^docker run .*$/m.exec(page)?.[0].split(" ") ?? [];
  await docker.run(...words.map((word) => (word === "1000:1000" ? "0:0" : word)));
  await assert.rejects(write(), /belongs to another account/);
  await docker.run(...words);
}

async function main(docker: Docker): Promise<void> {
  const sessions = await startSessionServer();
  const port = Number(new URL(sessions.root).port);
  const outside = await relay({ host: machine, port }, { host: "127.0.0.1", port });
  const compose = composeFor(`http://${machine}:${port}`);
  await makeImages(docker, compose);
  await checkImages(docker, inside);
  const file = join(inside.dir, "compose.yaml");
  // As JSON, since Python reads an unquoted `no` as false.
  writeFileSync(file, JSON.stringify(compose));
  const env = { ...process.env, DOCKER_HOST: docker.host };
  const place = ["--file", file, "--project-name", project, "--project-directory", repo];
  // With what is off unless asked for.
  const words = [...place, "--profile", "sftp"];
  const run = (...args: string[]) => promisify(execFile)("docker-compose", [...words, ...args], { env });
  try {
    await timed("volumes of older installations", () => checkUpgrade(docker, run));
    await timed("docker-compose up", () => run("up", "--detach", "--no-build"));
    const staying = Object.entries(compose.services).filter(
      ([, { restart }]) => restart === "unless-stopped",
    );
    await play(
      docker,
      staying.map(([name]) => name),
      sessions.root,
    );
  } catch (error) {
    const { stdout } = await run("logs", "--no-color", "--tail=5");
    console.log(stdout, (await run("ps")).stdout);
    throw error;
  } finally {
    await run("down", "--volumes", "--timeout", "5");
    outside.close();
    await sessions[Symbol.asyncDispose]();
  }
}

try {
  await using docker = await startDaemon(inside);
  await main(docker);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
