// The rights of a kubelet and the writes of an approval on a real API server. SVC_KUBE_LANE names the kubeconfig, as in
// conformance.test.ts. Probe pods need nodes with a network plugin, which no lane has.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import {
  connectKube,
  isKubeError,
  type Kube,
  type KubeObject,
  type Node,
  pathOf,
  resource,
  resources,
} from "@svc/kube";
import { joinTaint, nodeLabels } from "@svc/proto/node-labels";
import { until } from "../../libs/mesh/src/testing.ts";
import { admit } from "../../services/cli/src/node/approval/admit.ts";
import { askAsKubelet } from "../../services/cli/src/node/approval/kubelet-rights.ts";

const lane = process.env["SVC_KUBE_LANE"];

const bindings = resource<KubeObject>({
  ...{ group: "rbac.authorization.k8s.io", version: "v1", plural: "clusterrolebindings" },
  ...{ kind: "ClusterRoleBinding", namespaced: false },
});

describe("an approval on a real API server", () => {
  if (!lane) {
    test("skipped: set SVC_KUBE_LANE to the kubeconfig of a real API server", (t) =>
      t.skip("SVC_KUBE_LANE is not set"));
    return;
  }
  const kube: Kube = connectKube({ kubeconfigFile: lane });
  const name = `approve-${randomUUID().slice(0, 8)}`;
  const another = `${name}-other`;
  const other = { key: "example.com/other", effect: "NoSchedule" };
  let node: Node;
  const create = () =>
    kube.create(resources.nodes, {
      ...{ apiVersion: "v1", kind: "Node", metadata: { name } },
      spec: { taints: [joinTaint, other] },
    });
  const clean = () =>
    Promise.allSettled([
      ...[name, another].map((one) => kube.remove(resources.nodes, { name: one })),
      kube.remove(bindings, { name }),
    ]);
  before(async () => {
    node = await create();
    await kube.create(resources.nodes, { apiVersion: "v1", kind: "Node", metadata: { name: another } });
  });
  after(async () => {
    await clean();
    kube.close();
  });

  /** What the API server says to a kubelet that changes a label; nothing when it may. Nothing is stored. */
  const refusalOf = async (node: string, label = "anything") => {
    try {
      await kube.transport.request({
        method: "PATCH",
        path: pathOf(resources.nodes, { name: node }),
        query: { dryRun: "All" },
        contentType: "application/merge-patch+json",
        impersonate: { user: `system:node:${name}`, group: "system:nodes" },
        body: { metadata: { labels: { [label]: "1" } } },
      });
      return undefined;
    } catch (error) {
      if (!isKubeError(error, 403)) throw error;
      return (error as Error).message;
    }
  };
  const mayLabel = async (node: string) => (await refusalOf(node)) === undefined;

  test("a kubelet is refused, and one that may write nodes is found out where nothing restricts it; nothing is stored", async () => {
    assert.deepEqual(await askAsKubelet(kube, name), { taints: "refused", labels: "refused" });
    await kube.create(bindings, {
      ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding", metadata: { name } },
      ...{
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:node" },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: `system:node:${name}` }],
      },
    });
    await until(() => mayLabel(name), 10_000, "the binding to be in force");
    // With the plugin NodeRestriction a kubelet changes no other node, whatever its rights.
    const found = (await mayLabel(another)) ? "allowed" : "refused";
    assert.equal((await askAsKubelet(kube, name)).labels, found);
    // These words are how the script on the machine tells this refusal from others (approval/host/script.ts).
    const words = `nodes "${name}" is forbidden: is not allowed to modify labels: ${nodeLabels.approved}`;
    if (found === "refused") assert.ok((await refusalOf(name, nodeLabels.approved))?.includes(words));
    const { metadata, spec } = await kube.get(resources.nodes, { name });
    assert.equal(metadata.labels?.[nodeLabels.approved], undefined);
    assert.ok(spec?.taints?.some(({ key }) => key === joinTaint.key));
    assert.ok(!spec?.taints?.some(({ key }) => key === "svc.internal/probe"));
  });

  test("an approval sets the labels and removes only its taint, and may be repeated", async () => {
    for (let run = 0; run < 2; run++) {
      await admit(kube, await kube.get(resources.nodes, { name }));
      const { metadata, spec } = await kube.get(resources.nodes, { name });
      assert.equal(metadata.labels?.[nodeLabels.approved], "true");
      assert.equal(metadata.labels?.[nodeLabels.identity], name);
      const keys = spec?.taints?.map(({ key }) => key) ?? [];
      assert.ok(keys.includes(other.key) && !keys.includes(joinTaint.key), keys.join());
    }
  });

  test("a node that took the name of the probed one is not approved", async () => {
    await kube.remove(resources.nodes, { name });
    await until(async () => (await kube.find(resources.nodes, { name })) === undefined);
    await create();
    await assert.rejects(admit(kube, node), /was replaced while it was probed/);
    const { metadata, spec } = await kube.get(resources.nodes, { name });
    assert.equal(metadata.labels?.[nodeLabels.approved], undefined);
    assert.ok(spec?.taints?.some(({ key }) => key === joinTaint.key));
  });
});
