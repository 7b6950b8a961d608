// Who may change the labels of a node, and the upgrade from those of the releases before, on a real API server with the
// plugin NodeRestriction and the authorizer Node, as k3s and kubeadm start it. SVC_KUBE_LANE names the kubeconfig, as in
// conformance.test.ts.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import {
  connectKube,
  isKubeError,
  type Kube,
  type KubeObject,
  type PersistentVolumeClaim,
  pathOf,
  resource,
  resources,
} from "@svc/kube";
import { nodeLabels, oldNodeLabels, outdatedLabelsOf } from "@svc/proto/node-labels";
import { until } from "../../libs/mesh/src/testing.ts";

const lane = process.env["SVC_KUBE_LANE"];
const main = join(import.meta.dirname, "../../services/cli/src/main.ts");
const volumes = resource<KubeObject & { spec?: object; status?: { phase?: string } }>({
  ...{ group: "", version: "v1", plural: "persistentvolumes", kind: "PersistentVolume", namespaced: false },
});
const flags = "--authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction";

describe("labels of nodes on a real API server", () => {
  if (!lane) {
    test("skipped: set SVC_KUBE_LANE to the kubeconfig of a real API server", (t) =>
      t.skip("SVC_KUBE_LANE is not set"));
    return;
  }
  const kube: Kube = connectKube({ kubeconfigFile: lane });
  const run = randomUUID().slice(0, 8);
  const [honest, taken] = [`honest-${run}`, `taken-${run}`];
  const kubeletOf = (name: string) => ({ user: `system:node:${name}`, group: "system:nodes" });

  const labelAs = (kubelet: string, node: string, labels: Record<string, string | null>) =>
    kube.transport.request({
      method: "PATCH",
      path: pathOf(resources.nodes, { name: node }),
      contentType: "application/merge-patch+json",
      impersonate: kubeletOf(kubelet),
      body: { metadata: { labels } },
    });
  const labelsOf = async (name: string) => (await kube.get(resources.nodes, { name })).metadata.labels ?? {};
  const refusal = /not allowed to (modify|set) .*labels.*node-restriction\.kubernetes\.io/;
  const refused = (error: unknown) => isKubeError(error, 403) && refusal.test((error as Error).message);

  const label = (name: string, labels: Record<string, string | null>) =>
    kube.patch(resources.nodes, { name }, { merge: { metadata: { labels } } });
  const worker = (keys: Record<"identity" | "role" | "approved", string>, name: string) => ({
    ...{ [keys.identity]: name, [keys.role]: "worker", [keys.approved]: "true" },
  });

  before(async () => {
    for (const name of [honest, taken])
      await kube.create(resources.nodes, { apiVersion: "v1", kind: "Node", metadata: { name } });
  });
  after(async () => {
    await Promise.allSettled([honest, taken].map((name) => kube.remove(resources.nodes, { name })));
    kube.close();
  });

  test("a kubelet may give its node the old identity of another one, and none of the labels of this release", async () => {
    await label(taken, worker(nodeLabels, taken));
    // What a release before trusted.
    await labelAs(taken, taken, worker(oldNodeLabels, honest));
    assert.equal((await labelsOf(taken))[oldNodeLabels.identity], honest);
    for (const [kind, value] of [
      ["identity", honest],
      ["role", "controller"],
      ["approved", "yes"],
    ] as const)
      await assert.rejects(labelAs(taken, taken, { [nodeLabels[kind]]: value }), refused, flags);
    assert.deepEqual(outdatedLabelsOf(await labelsOf(taken)), {}, "what it wrote is not copied");
  });

  test("nor may it take them away, add them to a node without, or touch another node", async () => {
    for (const key of Object.values(nodeLabels)) {
      await assert.rejects(labelAs(taken, taken, { [key]: null }), refused, flags);
      await assert.rejects(labelAs(honest, honest, { [key]: "true" }), refused, flags);
    }
    await assert.rejects(labelAs(taken, honest, { anything: "1" }), (error) => isKubeError(error, 403));
    const { [nodeLabels.identity]: identity, [nodeLabels.approved]: approved } = await labelsOf(taken);
    assert.deepEqual([identity, approved], [taken, "true"]);
  });

  test("nor may it register under a new name with them", async () => {
    const name = `new-${run}`;
    const registers = (labels: Record<string, string>) =>
      kube.transport.request({
        method: "POST",
        path: pathOf(resources.nodes, {}),
        impersonate: kubeletOf(name),
        body: { apiVersion: "v1", kind: "Node", metadata: { name, labels } },
      });
    await assert.rejects(registers(worker(nodeLabels, honest)), refused, flags);
    assert.equal(await kube.find(resources.nodes, { name }), undefined);
  });

  async function relabel(...args: string[]) {
    const child = spawn(process.execPath, [main, "node", "relabel", "--kubeconfig", lane ?? "", ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (text += data));
    const [code] = (await once(child, "close")) as [number | null];
    return { code, text };
  }

  test("an upgrade copies the labels of every node that is what it says, once, and leaves the old ones", async () => {
    await label(honest, worker(oldNodeLabels, honest));
    await label(taken, Object.fromEntries(Object.values(nodeLabels).map((key) => [key, null])));
    const plan = await relabel();
    assert.equal(plan.code, 1, plan.text);
    assert.match(plan.text, new RegExp(`${taken} is left out: its old label says that it is ${honest}`));
    assert.match(plan.text, /Nothing was done|is left out/);
    assert.deepEqual(Object.keys(outdatedLabelsOf(await labelsOf(honest))).length, 3, "nothing was done");
    // Whoever knows better says so by hand; here the label is mended.
    await label(taken, { [oldNodeLabels.identity]: taken });
    const done = await relabel("--yes");
    assert.equal(done.code, 0, done.text);
    for (const name of [honest, taken]) {
      const labels = await labelsOf(name);
      for (const [keys, what] of [
        [nodeLabels, "protected"],
        [oldNodeLabels, "old"],
      ] as const)
        assert.deepEqual(
          [labels[keys.identity], labels[keys.role], labels[keys.approved]],
          [name, "worker", "true"],
          what,
        );
    }
    const again = await relabel("--yes");
    assert.match(again.text, /^Every node has the labels of this release/);
  });

  test("a volume keeps the label that it was made with, and its claim is bound again once both were made anew", async () => {
    const [name, namespace] = [`relabel-${run}`, "default"];
    const volume = (key: string) => ({
      ...{ apiVersion: "v1", kind: "PersistentVolume", metadata: { name } },
      spec: {
        ...{ capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], storageClassName: "" },
        ...{ persistentVolumeReclaimPolicy: "Retain", local: { path: "/var/lib/svc/none" } },
        claimRef: { namespace, name },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [{ matchExpressions: [{ key, operator: "In", values: ["controller"] }] }],
          },
        },
      },
    });
    const claim: PersistentVolumeClaim = {
      ...{ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name, namespace } },
      spec: {
        ...{ accessModes: ["ReadWriteOnce"], storageClassName: "", volumeName: name },
        resources: { requests: { storage: "1Gi" } },
      },
    };
    const isBound = async () =>
      (await kube.get(resources.claims, { name, namespace })).status?.phase === "Bound";
    const remove = async () => {
      await kube.remove(resources.claims, { name, namespace });
      await kube.remove(volumes, { name });
      await until(async () => (await kube.find(volumes, { name })) === undefined, 30_000);
    };
    await kube.create(volumes, volume(oldNodeLabels.role));
    await kube.create(resources.claims, claim);
    try {
      await until(isBound, 30_000);
      await assert.rejects(
        kube.patch(volumes, { name }, { merge: { spec: volume(nodeLabels.role).spec } }),
        (error) => isKubeError(error, 422) && /immutable/.test((error as Error).message),
      );
      const { text } = await relabel();
      assert.match(text, new RegExp(`volume ${name} selects its node by ${oldNodeLabels.role}`));
      await remove();
      await kube.create(volumes, volume(nodeLabels.role));
      await kube.create(resources.claims, claim);
      await until(isBound, 30_000);
    } finally {
      await remove();
    }
  });
});
