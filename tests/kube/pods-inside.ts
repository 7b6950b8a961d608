// Runs in a network of its own, started by pods.sampled.test.ts: an installation as docs/install.md says, on one node.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connectKube, isKubeError, type KubeObject, resource, resources } from "@svc/kube";
import { until } from "@svc/local-stack/testing";
import { startSessionServer } from "@svc/minecraft/testing";
import { nodeLabels } from "@svc/proto/node-labels";
import { parse, stringify } from "yaml";
import { startMailSink } from "../../libs/local-stack/src/mail/sink.ts";
import { diagnoseCluster } from "../../services/cli/src/cluster/doctor/doctor.ts";
import type { Finding } from "../../services/cli/src/findings.ts";
import {
  installation,
  type KubernetesObject,
  objectsOf,
  prerequisites,
} from "../../services/cli/src/manifests/installation.ts";
import { firstSecrets } from "../../services/cli/src/manifests/secrets.ts";
import { readValues } from "../../services/cli/src/manifests/values/read.ts";
import type { Values } from "../../services/cli/src/manifests/values/schema.ts";
import { minecraftServerCrd } from "../../services/lifecycle/src/crd/definition.ts";
import { noScheduledBackup } from "../flow/stack.ts";
import { visit } from "../flow/visitor.ts";
import { relay } from "../namespaces/relay.ts";
import { apply, olderVersions } from "./apply.ts";
import { cleanCluster, type Nodes, startNodes } from "./cluster-nodes.ts";
import { playMainFlow } from "./main-flow.ts";
import { enterNetwork } from "./own-network.ts";
import { imagesOf, sandboxOf } from "./pod-images.ts";
import { stackOfPods } from "./stack-of-pods.ts";

const repo = resolve(import.meta.dirname, "../..");
const gateway = "10.244.0.1";
const demo = "svc.local/demo-server";

const inside = await enterNetwork();
const { kubeconfig, dir } = inside;
const kube = connectKube({ kubeconfigFile: kubeconfig });
let nodes: Nodes | undefined;

function valuesOf(sessionUrl: string): Values {
  const single = parse(readFileSync(join(repo, "deploy/values/single-node.yaml"), "utf8")) as object;
  const file = join(dir, "values.yaml");
  const folders = { archivePath: join(dir, "archive"), uploadsPath: join(dir, "uploads") };
  for (const folder of Object.values(folders)) {
    mkdirSync(folder, { recursive: true });
    execFileSync("install", ["-d", "-m", "2770", "-o", "1000", "-g", "1000", folder]);
  }
  const own = {
    ...single,
    rootDomain: "play.example.test",
    registry: { enabled: false },
    volumes: { kind: "local", ...folders },
    smtp: { host: gateway, port: 2525, from: "svc@example.test" },
    game: { defaultImage: demo, recommendedImages: [demo] },
    settings: [
      noScheduledBackup,
      "lifecycle.stop_notice=1s",
      "lifecycle.wake_cooldown=0s",
      "lifecycle.arrival_window=2s",
      // This cluster has no DNS.
      "lifecycle.egress_positive_probe=",
      // The relay of this test knows no TLS, which is required of every relay of another machine.
      "smtp.require_tls=false",
      `identity.mojang_session_url=${sessionUrl}/session/minecraft/hasJoined`,
    ],
  };
  writeFileSync(file, stringify(own));
  return readValues(file);
}

async function install(values: Values): Promise<void> {
  const older = await olderVersions(kube);
  const put = (object: unknown) => apply(kube, object as KubernetesObject, { older });
  // Not applied: this API server is older than the rules in its schema, and takes them only by leaving them out.
  await kube.create(resources.customResourceDefinitions, minecraftServerCrd()).catch((error: unknown) => {
    if (!isKubeError(error, 409)) throw error;
  });
  for (const object of prerequisites.flatMap((file) => objectsOf(file, values))) await put(object);
  for (const object of firstSecrets(values)) await put(object);
  for (const object of installation.flatMap((file) => objectsOf(file, values))) await put(object);
}

type Deployment = KubeObject & { status?: { readyReplicas?: number } };
const deployments = resource<Deployment>({
  group: "apps",
  version: "v1",
  plural: "deployments",
  kind: "Deployment",
  namespaced: true,
});

async function diagnose(): Promise<Finding[]> {
  const { json } = await diagnoseCluster({ kubeconfig, values: join(dir, "values.yaml") });
  return (json as { findings: Finding[] }).findings;
}

async function main(): Promise<void> {
  const sessions = await startSessionServer();
  const { port } = new URL(sessions.root);
  const outside = await relay(
    { host: gateway, port: Number(port) },
    { host: "127.0.0.1", port: Number(port) },
  );
  const values = valuesOf(`http://${gateway}:${port}`);
  await cleanCluster(kube, Object.values(values.namespaces));
  const { images, pathEnv } = await imagesOf(values, { repo, demo });
  const sandbox = join(dir, "sandbox.json");
  writeFileSync(sandbox, JSON.stringify(sandboxOf({ repo, dir, gateway, pathEnv })));
  nodes = await startNodes({
    inside,
    names: ["machine"],
    images,
    args: ["--label", `${nodeLabels.role}=controller`, "--sandbox", sandbox],
  });
  await install(values);
  const startedAt = performance.now();
  const waiting = async () => {
    const { items } = await kube.list(deployments, { namespace: values.namespaces.control });
    const open = items.filter(({ status }) => (status?.readyReplicas ?? 0) < 1);
    return open.map(({ metadata }) => metadata.name);
  };
  await until(async () => (await waiting()).length === 0, 60_000, "every Deployment to be ready").catch(
    async (error: unknown) => {
      const pods = await kube.list(resources.pods, { namespace: values.namespaces.control });
      for (const { metadata, status } of pods.items)
        console.log(
          metadata.name,
          status?.phase,
          JSON.stringify(status?.containerStatuses?.map((one) => one.state)),
        );
      throw error;
    },
  );
  console.log(`every Deployment is ready: ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  // An API server as old as that of the lane lacks some kinds and rules, and has no load balancers.
  const known = ["API server", "custom resource", "Service proxy"];
  const problems = async () => (await diagnose()).filter(({ check, ok }) => !ok && !known.includes(check));
  await until(async () => (await problems()).length === 0, 60_000, "svc doctor to find nothing").catch(
    async () => assert.deepEqual(await problems(), []),
  );
  if (inside.isWhole) await play(values, sessions.root);
  outside.close();
  await sessions[Symbol.asyncDispose]();
}

async function play(values: Values, sessionServer: string): Promise<void> {
  const mails = await startMailSink({ dir: join(dir, "mail"), smtpPort: 0, pagePort: 0 });
  const toMails = await relay(
    { host: gateway, port: 2525 },
    { host: "127.0.0.1", port: Number(new URL(mails.smtpUrl).port) },
  );
  const stack = await stackOfPods({ kube, values, dir, sessionServer });
  await stack.setUp();
  const enters = async () => {
    const scout = await visit(stack, "scout", values.rootDomain).catch(() => undefined);
    await scout?.leave();
    // The proxy lets few in at a time from one address.
    await delay(2_000);
    return scout !== undefined;
  };
  await until(enters, 60_000, "the login gate to let players in");
  const { seconds } = await playMainFlow(stack, inside);
  for (const [what, took] of Object.entries(seconds)) console.log(`${what}: ${took} s`);
  await mails.stop();
  toMails.close();
}

try {
  await main();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await nodes?.close();
  await cleanCluster(kube, ["svc", "minecraft", "svc-build"]);
  kube.close();
  inside.close();
  // What a failure left open.
  setImmediate(() => process.exit());
}
