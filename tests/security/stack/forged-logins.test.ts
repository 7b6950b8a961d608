// A tenant's server is the tenant's: it can read its own secrets and speak to every port of the network. With what it
// finds it logs in as somebody else, past the proxy: to another tenant's server, to the login gate, where an account is
// to be had, and to the lobby.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { connectKube, resources } from "@svc/kube";
import { until } from "@svc/local-stack/testing";
import { type Backend, dial, findVersion, MinecraftFault } from "@svc/minecraft";
import { type Stack, startStack } from "../../flow/stack.ts";
import {
  candidatesIn,
  environmentOf,
  type MountedFile,
  mountedFiles,
  processAt,
} from "./readable-secrets.ts";

type Loot = { environment: Record<string, string>; files: MountedFile[]; candidates: string[] };

let stack: Stack;
let loot: Loot;
const places: Record<string, string> = {};

before(async () => {
  stack = await startStack();
  await stack.setUp();
  for (const name of ["mallory", "alice"]) {
    const made = await stack.svc("server", "create", name, "--policy", "public");
    assert.equal(made.code, 0, made.stderr);
  }
  const woken = await Promise.all(
    ["mallory", "alice"].map((name) => stack.svc("server", "wake", name, "--wait")),
  );
  for (const { code, stderr } of woken) assert.equal(code, 0, stderr);
  for (const name of ["mallory", "alice"]) places[name] = await addressOf(name);
  for (const name of ["login-gate", "lobby"]) {
    const pid = stack.file().processes.find((process) => process.name === name)?.pid ?? 0;
    const { POD_IP, GAME_PORT } = environmentOf(pid);
    places[name] = `${POD_IP}:${GAME_PORT}`;
  }
  loot = await plunder("mallory");
});
after(() => stack?.stop());

function addressOf(name: string): Promise<string> {
  return until(
    async () => {
      const { body } = await stack.internal("GET", `/api/v1/internal/servers/${name}/status`);
      const { ready, endpointAddress } = body as { ready: boolean; endpointAddress?: string };
      return ready ? endpointAddress : undefined;
    },
    60_000,
    `${name} to run`,
  );
}

/** All that the server's process can read. */
async function plunder(name: string): Promise<Loot> {
  const kube = connectKube({ kubeconfigFile: stack.file().kubeconfig });
  try {
    const pod = await kube.get(resources.pods, { name: `${name}-0`, namespace: "minecraft" });
    const environment = environmentOf(processAt(pod.status?.podIP ?? ""));
    const files = mountedFiles(environment);
    const texts = [...Object.values(environment), ...files.map(({ text }) => text)];
    return { environment, files, candidates: candidatesIn(texts) };
  } finally {
    kube.close();
  }
}

/** Logs in as somebody with a forged word of the proxy; true when that is believed. */
async function isLetIn(place: string, secret: string): Promise<boolean> {
  const [host = "", port] = place.split(":");
  const version = findVersion(769);
  assert(version);
  const backend: Backend = { name: "target", host, port: Number(port), secret, timeoutMs: 20_000 };
  const profile = { uuid: randomUUID(), name: `P${secret.length}x${attempts++}`, properties: [] };
  try {
    const connection = await dial(backend, { version, profile, address: "203.0.113.7" });
    connection.destroy();
    return true;
  } catch (error) {
    assert(error instanceof MinecraftFault && error.code === "refused", String(error));
    return false;
  }
}
let attempts = 0;

test("only its own user can read the server's secret, which is neither in the environment nor in the world", async () => {
  const secrets: MountedFile[] = [];
  for (const file of loot.files) {
    for (const candidate of candidatesIn([file.text])) {
      if (await isLetIn(places["mallory"] ?? "", candidate)) secrets.push(file);
    }
  }
  assert.deepEqual(
    secrets.map(({ mode }) => mode.toString(8)),
    ["400"],
    "one file holds it",
  );
  const [{ path, text }] = secrets as [MountedFile];
  assert.ok(!path.startsWith(`${loot.environment["SVC_MOUNT_WORLD"]}/`), path);
  const values = Object.entries(loot.environment).filter(([, value]) => value.includes(text.trim()));
  assert.deepEqual(values, []);
});

for (const target of ["alice", "login-gate", "lobby"]) {
  test(`nothing that a tenant's server can read opens ${target} to it`, async () => {
    assert.ok(loot.candidates.length > 0);
    for (const candidate of loot.candidates) {
      assert.equal(await isLetIn(places[target] ?? "", candidate), false, `${target} believed ${candidate}`);
    }
  });
}

test("the proxy never reveals the operator's forwarding master", async () => {
  const { forwarding_secret: master } = stack.file() as { forwarding_secret?: string };
  assert.ok(master);
  for (const [name, place] of Object.entries(places)) assert.equal(await isLetIn(place, master), false, name);
});
