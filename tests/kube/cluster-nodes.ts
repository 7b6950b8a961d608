// Nodes that run pods of the lane's API server, as a process beside a test, and what an administrator prepares there.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { isKubeError, type Kube, type KubeObject, type Resource, resource, resources } from "@svc/kube";
import { until } from "@svc/local-stack/testing";
import { parse, stringify } from "yaml";
import { type Inside, networks } from "./own-network.ts";

const program = resolve(import.meta.dirname, "../../libs/local-cluster/src/remote/main.ts");

export type Nodes = { close: () => Promise<void> };

type NodesOptions = { inside: Inside; names: readonly string[]; images: object; args?: readonly string[] };

/** Resolves when the nodes are registered. */
export async function startNodes({ inside, names, images, args = [] }: NodesOptions): Promise<Nodes> {
  const { kubeconfig, dir, logs } = inside;
  const table = join(dir, "images.json");
  writeFileSync(table, JSON.stringify(images));
  const child = spawn(
    process.execPath,
    [
      program,
      ...["--kubeconfig", kubeconfig, "--data", join(dir, "nodes"), "--images", table],
      ...["--pod-network", networks.pods, "--advertise", `${logs.host}:${logs.port}`],
      ...["--log-socket", join(dir, "logs.sock"), ...names.flatMap((name) => ["--node", name]), ...args],
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  await Promise.race([isReady(child), once(child, "exit").then(() => Promise.reject(new Error("no nodes")))]);
  return {
    close: async () => {
      child.kill("SIGTERM");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}

async function isReady(child: ChildProcess): Promise<void> {
  if (child.stdout === null) return;
  for await (const line of createInterface({ input: child.stdout }))
    if (line.startsWith("nodes: ready")) return;
}

/** Writes `<file>.<account>` beside a kubeconfig: the same cluster as that account of the namespace, for an hour. */
export async function writeAccounts(
  kube: Kube,
  { kubeconfig, file, namespace }: { kubeconfig: string; file: string; namespace: string },
  accounts: readonly string[],
): Promise<void> {
  const config = parse(readFileSync(kubeconfig, "utf8")) as { users: { user: object }[] };
  writeFileSync(file, stringify(config), { mode: 0o600 });
  for (const account of accounts) {
    const answer = (await kube.transport.request({
      method: "POST",
      path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
      body: {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        spec: { expirationSeconds: 3600 },
      },
    })) as { status: { token: string } };
    const [user] = config.users;
    const users = [{ ...user, user: { token: answer.status.token } }];
    writeFileSync(`${file}.${account}`, stringify({ ...config, users }), { mode: 0o600 });
    chmodSync(`${file}.${account}`, 0o600);
  }
}

const clusterWide = (plural: string, group = ""): Resource<KubeObject> =>
  resource({ group, version: "v1", plural, kind: "", namespaced: false });

/** Removes what a test with nodes leaves: they no longer run, so nobody confirms the end of their pods. */
export async function cleanCluster(
  kube: Kube,
  namespaces: readonly string[],
  withinMs = 60_000,
): Promise<void> {
  const gone = (error: unknown) => {
    if (!isKubeError(error, 404)) throw error;
  };
  for (const name of namespaces) await kube.remove(resources.namespaces, { name }).catch(gone);
  for (const namespace of namespaces) {
    const { items } = await kube.list(resources.pods, { namespace });
    for (const { metadata } of items)
      await kube
        .remove(resources.pods, { name: metadata.name, namespace }, { gracePeriodSeconds: 0 })
        .catch(gone);
  }
  for (const kind of [resources.nodes, clusterWide("persistentvolumes")] as Resource<KubeObject>[])
    for (const { metadata } of (await kube.list(kind)).items)
      await kube.remove(kind, { name: metadata.name }).catch(gone);
  await kube.remove(clusterWide("storageclasses", "storage.k8s.io"), { name: "local" }).catch(gone);
  const left = async () => {
    const found = await Promise.all(namespaces.map((name) => kube.find(resources.namespaces, { name })));
    return found.every((one) => one === undefined);
  };
  await until(left, withinMs, `the namespaces ${namespaces.join(", ")} to be gone`);
}
