import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { until } from "@svc/local-stack/testing";
import type { Pod } from "./controllers/objects.ts";
import { findContainerProcesses, isAlive } from "./node/processes.ts";
import { makeDataDir, NAMESPACE, podObject } from "./testing/cluster.ts";

const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));

type Cluster = { child: ChildProcess; url: string };

let dataDir: string;
let images: string;
let cluster: Cluster;

function run(port: number): { child: ChildProcess; output: Promise<string>; url: Promise<string> } {
  const args = [
    MAIN,
    "--data",
    dataDir,
    "--port",
    String(port),
    "--images",
    images,
    "--service-account",
    "games/svc",
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  let all = "";
  const ready = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<string>();
  const take = (part: Buffer) => {
    all += part.toString("utf8");
    const found = /local-cluster: ready at (\S+)\n/.exec(all)?.[1];
    if (found !== undefined) ready.resolve(found);
  };
  child.stdout?.on("data", take);
  child.stderr?.on("data", take);
  child.once("close", () => {
    ended.resolve(all);
    ready.reject(new Error(`the cluster did not start: ${all}`));
  });
  ready.promise.catch(() => undefined);
  return { child, output: ended.promise, url: ready.promise };
}

async function start(): Promise<Cluster> {
  const { child, url } = run(0);
  return { child, url: await url };
}

async function call(path: string, method = "GET", body?: unknown): Promise<Response> {
  const tokens = JSON.parse(await readFile(join(dataDir, "tokens.json"), "utf8")) as {
    token: string;
    user: string;
  }[];
  const token = tokens.find(({ user }) => user === "admin")?.token ?? "";
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
  return fetch(`${cluster.url}/api/v1/namespaces/${NAMESPACE}/pods${path}`, init);
}

async function pod(name: string): Promise<Pod | undefined> {
  const response = await call(`/${name}`);
  const body = (await response.json()) as Pod;
  return response.ok ? body : undefined;
}

async function createPod(object: Pod): Promise<void> {
  const response = await call("", "POST", object);
  assert.equal(response.status, 201, await response.text());
}

async function kill(): Promise<void> {
  const closed = once(cluster.child, "close");
  cluster.child.kill("SIGKILL");
  await closed;
}

const running = (name: string) =>
  until(
    async () => {
      const found = await pod(name);
      return found?.status?.containerStatuses?.[0]?.state.running !== undefined && found;
    },
    20_000,
    `${name} runs`,
  );
const logOf = async (name: string) => (await call(`/${name}/log?timestamps=true`)).text();

before(async () => {
  ({ dataDir, images } = await makeDataDir());
  cluster = await start();
});
after(async () => {
  if (cluster.child.exitCode === null && cluster.child.signalCode === null) await kill();
  for (const { pid } of await findContainerProcesses(join(dataDir, "pods"))) process.kill(pid, "SIGKILL");
  await rm(dataDir, { recursive: true, force: true });
});

describe("a cluster that is killed and started again", () => {
  it("takes over its pods: same process, no restart, the log continues and a later exit code is recorded", async () => {
    const go = join(dataDir, "go");
    const script = `echo before; while [ ! -e ${go} ]; do sleep 0.02; done; echo after; exit 5`;
    await createPod(podObject("survivor", { args: [script] }));
    const before = await running("survivor");
    await until(async () => (await logOf("survivor")).endsWith(" before\n"), 20_000, "the first line");
    const [firstLine] = (await logOf("survivor")).split("\n");
    await kill();
    cluster = await start();
    const again = await running("survivor");
    assert.equal(again.metadata.uid, before.metadata.uid);
    assert.equal(again.status?.podIP, before.status?.podIP);
    assert.deepEqual(
      again.status?.containerStatuses?.[0]?.state,
      before.status?.containerStatuses?.[0]?.state,
    );
    await writeFile(go, "");
    const end = await until(
      async () => {
        const found = await pod("survivor");
        return found?.status?.phase === "Failed" && found;
      },
      20_000,
      "it ends",
    );
    assert.equal(end.status?.containerStatuses?.[0]?.state.terminated?.exitCode, 5);
    assert.equal(end.status?.containerStatuses?.[0]?.restartCount, 0);
    const lines = (await logOf("survivor")).trim().split("\n");
    assert.equal(lines[0], firstLine, "the line keeps its timestamp");
    assert.match(lines[1] ?? "", / after$/);
  });

  it("records the end of a pod that ended while the cluster was down", async () => {
    const go = join(dataDir, "unseen");
    await createPod(podObject("unseen", { args: [`while [ ! -e ${go} ]; do sleep 0.02; done; exit 9`] }));
    const { metadata } = await running("unseen");
    await kill();
    await writeFile(go, "");
    const exit = join(dataDir, "pods", metadata.uid ?? "", "containers", "main", "runs", "0", "exit");
    await until(() => existsSync(exit), 20_000, "it ended");
    cluster = await start();
    const end = await until(
      async () => {
        const found = await pod("unseen");
        return found?.status?.phase === "Failed" && found;
      },
      20_000,
      "the end is recorded",
    );
    assert.equal(end.status?.containerStatuses?.[0]?.state.terminated?.exitCode, 9);
  });

  it("completes the deletion of a pod", async () => {
    const script = "trap '' TERM; echo up; while :; do sleep 0.02; done";
    await createPod(podObject("leaving", { args: [script] }, { terminationGracePeriodSeconds: 1 }));
    await until(
      async () => (await pod("leaving")) && (await logOf("leaving")).endsWith("up\n"),
      20_000,
      "it is up",
    );
    await call("/leaving", "DELETE");
    await kill();
    cluster = await start();
    await until(async () => (await pod("leaving")) === undefined, 20_000, "it is gone");
    const left = await findContainerProcesses(join(dataDir, "pods"));
    assert.deepEqual(
      left.filter(({ runDir }) => runDir.includes("leaving")),
      [],
    );
  });
});

describe("the cluster process", () => {
  it("writes a kubeconfig for the admin and for each service account that only the owner can read", async () => {
    for (const name of ["kubeconfig", "kubeconfig.svc", "tokens.json"]) {
      assert.equal(statSync(join(dataDir, name)).mode & 0o777, 0o600, name);
    }
    assert.match(await readFile(join(dataDir, "kubeconfig.svc"), "utf8"), /system:serviceaccount:games:svc/);
  });

  it("rejects a port in use with one sentence", async () => {
    const blocker = createServer().listen(0, "127.0.0.1");
    await once(blocker, "listening");
    const address = blocker.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const { dataDir: mine, images: own } = { dataDir, images };
    ({ dataDir, images } = await makeDataDir());
    const { child, output } = run(port);
    const text = await output;
    await rm(dataDir, { recursive: true, force: true });
    [dataDir, images] = [mine, own];
    blocker.close();
    assert.equal(child.exitCode, 1);
    assert.equal(
      text,
      `local-cluster: port ${port} is taken; end the program that listens there or choose another port\n`,
    );
  });

  it("rejects a data folder that another cluster uses", async () => {
    const { child, output } = run(0);
    const text = await output;
    assert.equal(child.exitCode, 1);
    assert.match(
      text,
      new RegExp(`^local-cluster: a cluster with pid ${cluster.child.pid} runs on ${dataDir} already`),
    );
  });

  it("stops its pods on SIGTERM and starts them again the next time", async () => {
    await createPod(podObject("restarted", { image: "sleep" }, { restartPolicy: "Always" }));
    await running("restarted");
    const processes = await findContainerProcesses(join(dataDir, "pods"));
    const closed = once(cluster.child, "close");
    cluster.child.kill("SIGTERM");
    assert.deepEqual(await closed, [0, null]);
    assert.ok(processes.length > 0 && processes.every(({ pid }) => !isAlive(pid)));
    cluster = await start();
    const { status } = await until(
      async () => {
        const found = await pod("restarted");
        return found?.status?.containerStatuses?.[0]?.restartCount === 1 && found;
      },
      20_000,
      "it runs again",
    );
    assert.equal(status?.phase, "Running");
  });
});
