// Shared by the tests of the cluster: a running cluster on its own data folder, and objects for it.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "@svc/local-stack/testing";
import type { ClusterApi, KubeObject, ResourceRef } from "../cluster-api.ts";
import type { Container, Pod, PodSpec } from "../controllers/objects.ts";
import { PODS } from "../controllers/refs.ts";
import type { LocalCluster } from "../start.ts";
import { startLocalCluster } from "../start.ts";

export const NAMESPACE = "default";

/** A server that listens on POD_IP:7000 and answers each line with the name of its pod. */
const SERVER = `
  const server = require("node:net").createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (line) => socket.write(process.env.HOSTNAME + " " + line));
    socket.on("end", () => socket.end());
  });
  server.listen(7000, process.env.POD_IP, () => console.log("listening"));
  process.on("SIGTERM", () => { console.log("bye"); process.exit(0); });
`;

export const IMAGES = {
  sh: {
    command: ["/bin/sh", "-c"],
    env: { FROM_IMAGE: "yes" },
    base: { entrypoint: ["sh"], env: ["MOTD"], data: "/data" },
  },
  sleep: { command: ["/bin/sleep", "1000"] },
  server: { command: [process.execPath, "-e", SERVER] },
};

export type TestCluster = LocalCluster & { dataDir: string };

export async function makeDataDir(): Promise<{ dataDir: string; images: string }> {
  const dataDir = await mkdtemp(join(tmpdir(), "svc-cluster-"));
  const images = join(dataDir, "images.json");
  await writeFile(images, JSON.stringify(IMAGES));
  return { dataDir, images };
}

/** A cluster with short waiting times; closing it removes its folder. */
export async function startTestCluster(more: { registry?: string } = {}): Promise<TestCluster> {
  const { dataDir, images } = await makeDataDir();
  const quick = { port: 0, crashBackoffMs: 50, jobBackoffMs: 50 };
  const cluster = await startLocalCluster({ dataDir, images, ...quick, ...more });
  const close = async () => {
    await cluster.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { ...cluster, dataDir, close };
}

export function podObject(name: string, container: Partial<Container>, spec: Partial<PodSpec> = {}): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: NAMESPACE, labels: { app: name } },
    spec: {
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 2,
      ...spec,
      containers: [{ name: "main", image: "sh", ...container }],
    },
  };
}

export function findPod(api: ClusterApi, name: string): Pod | undefined {
  return api.find(PODS, name, NAMESPACE) as Pod | undefined;
}

/** Waits until the pod of that name satisfies the test. */
export async function awaitPod(api: ClusterApi, name: string, test: (pod: Pod) => boolean): Promise<Pod> {
  const read = () => {
    const pod = findPod(api, name);
    return pod !== undefined && test(pod) && pod;
  };
  return until(read, 20_000, `pod ${name}`).catch((error: Error) => {
    throw new Error(`${error.message}; last status ${JSON.stringify(findPod(api, name)?.status)}`);
  });
}

export const isOver = (pod: Pod) => pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
export const isUp = (pod: Pod) =>
  pod.status?.conditions?.some((one) => one.type === "Ready" && one.status === "True") ?? false;

export async function awaitObject(
  api: ClusterApi,
  { ref, name }: { ref: ResourceRef; name: string },
  test: (object: KubeObject) => boolean,
): Promise<KubeObject> {
  return until(
    () => {
      const object = api.find(ref, name, NAMESPACE);
      return object !== undefined && test(object) && object;
    },
    20_000,
    `${ref.resource} ${name}`,
  );
}

/** The log of a pod's only container, over HTTP as a client reads it. */
export async function readLog(cluster: LocalCluster, pod: string, query = ""): Promise<string> {
  const url = `${cluster.url}/api/v1/namespaces/${NAMESPACE}/pods/${pod}/log${query}`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${cluster.adminToken}` } });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return text;
}
