// Runs in a network of its own, started by pods.test.ts: an installation as docs/install.md says, on one node.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { connectKube, isKubeError, type KubeObject, resource, resources } from "@svc/kube";
import { until } from "@svc/local-stack/testing";
import { parse, stringify } from "yaml";
import {
  installation,
  type KubernetesObject,
  objectsOf,
  prerequisites,
} from "../../services/cli/src/manifests/installation.ts";
import { firstSecrets } from "../../services/cli/src/manifests/secrets.ts";
import { readValues } from "../../services/cli/src/manifests/values/read.ts";
import { minecraftServerCrd } from "../../services/lifecycle/src/crd/definition.ts";
import { apply, olderVersions } from "./apply.ts";
import { cleanCluster, type Nodes, startNodes } from "./cluster-nodes.ts";
import { enterNetwork } from "./own-network.ts";
import { imagesOf, sandboxOf } from "./pod-images.ts";

const repo = resolve(import.meta.dirname, "../..");
const gateway = "10.244.0.1";
const demo = "svc.local/demo-server";

const inside = await enterNetwork();
const { kubeconfig, dir } = inside;
const kube = connectKube({ kubeconfigFile: kubeconfig });
let nodes: Nodes | undefined;

function valuesOf() {
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
  };
  writeFileSync(file, stringify(own));
  return readValues(file);
}

async function install(values: ReturnType<typeof valuesOf>): Promise<void> {
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

async function main(): Promise<void> {
  const values = valuesOf();
  await cleanCluster(kube, Object.values(values.namespaces));
  const { images, pathEnv } = await imagesOf(values, { repo, demo });
  const sandbox = join(dir, "sandbox.json");
  writeFileSync(sandbox, JSON.stringify(sandboxOf({ repo, dir, gateway, pathEnv })));
  nodes = await startNodes({
    inside,
    names: ["machine"],
    images,
    args: ["--label", "svc.internal/role=controller", "--sandbox", sandbox],
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
}
