import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Node } from "@svc/kube";
import { resources } from "@svc/kube";
import { staff, until } from "@svc/mesh/testing";
import { nodes } from "@svc/proto";
import { type Fixture, openFixture } from "../testing/fixture.ts";
import { toExecutionNode } from "./view.ts";

type Labels = Record<string, string>;
const worker: Labels = {
  "svc.internal/identity": "w",
  "svc.internal/role": "worker",
  "svc.internal/approved": "true",
};

function node(about: { labels?: Labels; spec?: Node["spec"]; status?: Node["status"] }): Node {
  const metadata = { name: "n", labels: about.labels ?? worker };
  const ready: Node["status"] = { conditions: [{ type: "Ready", status: "True" }] as never };
  const spec = about.spec ?? {};
  return { apiVersion: "v1", kind: "Node", metadata, spec, status: about.status ?? ready };
}

describe("a node as operators see it", () => {
  const table: [string, Node, Partial<nodes.ExecutionNode>][] = [
    [
      "an approved worker is ready and approved",
      node({}),
      { name: "w", role: "worker", ready: true, approved: true },
    ],
    [
      "one that nobody labelled has its own name and no role",
      node({ labels: {} }),
      { name: "n", role: "", approved: false },
    ],
    [
      "a cordoned one is not approved",
      node({ spec: { unschedulable: true } }),
      { approved: false, ready: true },
    ],
    [
      "an approval that says anything but true is none",
      node({ labels: { ...worker, "svc.internal/approved": "yes" } }),
      { approved: false },
    ],
    [
      "a controller is approved by the same label",
      node({ labels: { ...worker, "svc.internal/role": "controller" } }),
      { role: "controller", approved: true },
    ],
    [
      "one that said nothing yet is not ready",
      node({ status: {} }),
      { ready: false, addresses: [], architecture: "" },
    ],
    [
      "one whose kubelet is lost is not ready",
      node({ status: { conditions: [{ type: "Ready", status: "Unknown" }] as never } }),
      { ready: false },
    ],
    [
      "its addresses are those that machines use, not its host name",
      node({
        status: {
          addresses: [
            { type: "Hostname", address: "n" },
            { type: "ExternalIP", address: "192.0.2.1" },
            { type: "InternalIP", address: "10.0.0.1" },
          ],
          nodeInfo: { architecture: "arm64" },
        },
      }),
      { addresses: ["192.0.2.1", "10.0.0.1"], architecture: "arm64" },
    ],
  ];
  for (const [fact, given, wanted] of table) {
    test(fact, () => {
      const view = toExecutionNode(given);
      assert.deepEqual({ ...view, ...wanted }, view);
    });
  }
});

describe("the list", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await openFixture();
    await fixture.start();
  });
  after(() => fixture?.close());
  const list = async () => (await fixture.external.call(nodes.listNodes, {}, staff)).nodes;

  test("has every node by name and follows changes", async () => {
    const found = await list();
    assert.deepEqual(
      found.map(({ name, role, ready, approved }) => ({ name, role, ready, approved })),
      ["local-1", "local-2"].map((name) => ({ name, role: "worker", ready: true, approved: true })),
    );
    for (const { addresses, architecture } of found) {
      assert.equal(addresses.length, 1);
      assert.match(architecture, /^(amd64|arm64)$/);
    }
    await fixture.kube.patch(
      resources.nodes,
      { name: "local-2" },
      { merge: { spec: { unschedulable: true } } },
    );
    await until(async () => (await list())[1]?.approved === false);
    const metadata = { name: "arrived", labels: {} };
    await fixture.kube.create(resources.nodes, { apiVersion: "v1", kind: "Node", metadata, spec: {} });
    await until(async () => (await list()).length === 3);
    assert.deepEqual((await list())[0], {
      ...{ name: "arrived", role: "", ready: false, approved: false },
      ...{ addresses: [], architecture: "" },
    });
  });
});
