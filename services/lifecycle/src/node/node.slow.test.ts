import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Node } from "@svc/kube";
import { resources } from "@svc/kube";
import { staff, until } from "@svc/mesh/testing";
import { isFault, nodes, servers } from "@svc/proto";
import { nodeLabels, oldNodeLabels, outdatedLabelsOf } from "@svc/proto/node-labels";
import { servers as serverResource } from "../cluster/resource.ts";
import { type Fixture, namespace, openFixture } from "../testing/fixture.ts";
import { noImage } from "../testing/server-operations.ts";
import { toExecutionNode } from "./view.ts";

type Labels = Record<string, string>;
const worker: Labels = {
  [nodeLabels.identity]: "w",
  [nodeLabels.role]: "worker",
  [nodeLabels.approved]: "true",
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
      node({ labels: { ...worker, [nodeLabels.approved]: "yes" } }),
      { approved: false },
    ],
    [
      "a controller is approved by the same label",
      node({ labels: { ...worker, [nodeLabels.role]: "controller" } }),
      { role: "controller", approved: true },
    ],
    [
      "one with the labels of an earlier release has its own name, no role and no approval",
      node({
        labels: {
          [oldNodeLabels.identity]: "w",
          [oldNodeLabels.role]: "worker",
          [oldNodeLabels.approved]: "true",
        },
      }),
      { name: "n", role: "", approved: false, outdated: true },
    ],
    [
      "what a kubelet writes to an old label changes nothing",
      node({ labels: { ...worker, [oldNodeLabels.identity]: "other", [oldNodeLabels.role]: "controller" } }),
      { name: "w", role: "worker", approved: true },
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

describe("a node that is cordoned", () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await openFixture();
    await fixture.start();
    await until(async () => (await room()).nodes.length === 2);
  });
  after(() => fixture?.close());
  const room = () => fixture.external.call(nodes.readRoom, {}, staff);
  const roomAt = async (name: string) => (await room()).nodes.find((one) => one.name === name);
  const cordon = (name: string) => fixture.external.call(nodes.cordon, { name }, staff);
  const uncordon = (name: string) => fixture.external.call(nodes.uncordon, { name }, staff);
  const create = (name: string) =>
    fixture.external.call(servers.create, { name, subdomain: name, image: noImage }, staff);
  const nodeOf = async (name: string) =>
    (await fixture.kube.get(serverResource, { name, namespace })).spec.nodeName;
  const isUnschedulable = async (name: string) =>
    (await fixture.kube.get(resources.nodes, { name })).spec?.unschedulable === true;
  const audited = async () =>
    (await fixture.audits())
      .filter(({ action }) => action.startsWith("node."))
      .map(({ action, actor_user_id, payload }) => [action, actor_user_id, payload["node"]]);

  test("takes no new server, and what belongs to it stays", async () => {
    await cordon("local-2");
    await create("first");
    assert.equal(await nodeOf("first"), "local-1");
    await until(async () => (await roomAt("local-1"))?.servers === 1);
    const before = await roomAt("local-1");
    assert.ok((before?.memory ?? 0) > 0);
    assert.deepEqual([before?.takes_servers, (await roomAt("local-2"))?.takes_servers], [true, false]);
    const { approved, ready } = await cordon("local-1");
    assert.deepEqual([approved, ready, await isUnschedulable("local-1")], [false, true, true]);
    assert.deepEqual(await roomAt("local-1"), { ...before, takes_servers: false, cordoned: true });
    assert.equal((await uncordon("local-2")).approved, true);
    await create("second");
    assert.equal(await nodeOf("second"), "local-2");
    assert.equal(await isUnschedulable("local-2"), false);
  });

  test("is so once however often it is asked, and the audit log says who did it", async () => {
    for (let n = 0; n < 3; n++) assert.equal((await cordon("local-1")).approved, false);
    assert.equal((await uncordon("local-1")).approved, true);
    assert.deepEqual(await audited(), [
      ["node.cordon", "usr-staff", "local-2"],
      ["node.cordon", "usr-staff", "local-1"],
      ["node.uncordon", "usr-staff", "local-2"],
      ["node.uncordon", "usr-staff", "local-1"],
    ]);
  });

  test("wakes nobody, and says why; what woke before goes on", async () => {
    const wake = (name: string) => fixture.external.call(servers.wake, { name }, staff);
    const readyOf = async (name: string) =>
      (await fixture.kube.get(serverResource, { name, namespace })).status?.conditions?.find(
        ({ type }) => type === "Ready",
      );
    const podsOf = async (name: string) =>
      (await fixture.kube.list(resources.pods, { namespace, labelSelector: `svc.internal/server=${name}` }))
        .items;
    await wake("first");
    await until(async () => (await podsOf("first")).length === 1);
    await cordon("local-1");
    await create("third");
    await uncordon("local-1");
    await create("fourth");
    assert.deepEqual([await nodeOf("third"), await nodeOf("fourth")], ["local-2", "local-1"]);
    await cordon("local-1");
    await wake("fourth");
    await until(async () => (await readyOf("fourth"))?.reason === "NodeUnavailable");
    assert.match(
      (await readyOf("fourth"))?.message ?? "",
      /node local-1 is cordoned; move the world to another node/,
    );
    assert.deepEqual(await podsOf("fourth"), []);
    assert.notEqual((await readyOf("first"))?.reason, "NodeUnavailable");
    await uncordon("local-1");
    await until(async () => (await podsOf("fourth")).length === 1, 30_000);
  });

  test("of an earlier release carries nothing by its old labels, and everything once they were copied", async () => {
    const name = "local-1";
    const podOf = async () =>
      (await fixture.kube.list(resources.pods, { namespace, labelSelector: "svc.internal/server=first" }))
        .items[0]?.metadata.uid;
    const readyOf = async () =>
      (await fixture.kube.get(serverResource, { name: "first", namespace })).status?.conditions?.find(
        ({ type }) => type === "Ready",
      );
    const label = async (labels: Record<string, string | null>) =>
      fixture.kube.patch(resources.nodes, { name }, { merge: { metadata: { labels } } });
    const pod = await podOf();
    assert.ok(pod);
    await label({
      ...Object.fromEntries(Object.values(nodeLabels).map((key) => [key, null])),
      ...{ [oldNodeLabels.identity]: name, [oldNodeLabels.role]: "worker", [oldNodeLabels.approved]: "true" },
    });
    await until(async () => (await readyOf())?.reason === "NodeUnavailable");
    assert.match((await readyOf())?.message ?? "", /an operator runs svc node relabel/);
    const { nodes: all } = await fixture.external.call(nodes.listNodes, {}, staff);
    const views = all.filter((one) => one.name.startsWith("local-"));
    assert.deepEqual(
      views.map(({ approved, outdated }) => [approved, outdated]),
      [
        [false, true],
        [true, undefined],
      ],
    );
    assert.equal((await roomAt(name))?.takes_servers, false);
    const { metadata } = await fixture.kube.get(resources.nodes, { name });
    await label(outdatedLabelsOf(metadata.labels));
    await until(async () => (await readyOf())?.reason !== "NodeUnavailable", 30_000);
    assert.equal((await roomAt(name))?.takes_servers, true);
    assert.equal(await podOf(), pod, "its pod was left alone");
  });

  test("gives servers without a world to another one, once, and leaves worlds and locked servers", async () => {
    const from = "local-1";
    const place = (about: { dry_run?: boolean } = {}) =>
      fixture.external.call(nodes.placeUnstarted, { name: from, ...about }, staff);
    const put = (name: string, merge: object) =>
      fixture.kube.patch(serverResource, { name, namespace }, { merge });
    for (const name of ["fresh", "settled", "locked"]) {
      await create(name);
      await put(name, { spec: { nodeName: from } });
      const isSeen = async () => {
        const { metadata, status } = await fixture.kube.get(serverResource, { name, namespace });
        return status?.phase === "Stopped" && status.observedGeneration === metadata.generation;
      };
      await until(isSeen, 20_000);
    }
    await fixture.kube.create(resources.claims, {
      ...{
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: { name: "world-settled-0", namespace },
      },
      spec: {
        ...{ accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
        ...{ volumeName: "of-settled" },
      },
    });
    const lock = `restore@${new Date().toISOString()}`;
    await put("locked", { metadata: { annotations: { "svc.internal/maintenance": lock } } });
    await cordon(from);
    const named = (all: { name: string }[]) => all.map(({ name }) => name);
    const mine = ["fresh", "settled", "locked"];
    const only = (all: { name: string }[]) => named(all).filter((name) => mine.includes(name));
    const known = async () => {
      const { placed, stay } = await place({ dry_run: true });
      return only(placed).length > 0 && only(stay).length > 0;
    };
    await until(known);
    const plan = await place({ dry_run: true });
    assert.deepEqual([only(plan.placed), only(plan.stay)], [["fresh"], ["locked"]]);
    assert.equal(plan.stay.find(({ name }) => name === "locked")?.reason, "held");
    assert.equal(await nodeOf("fresh"), from, "a plan changes nothing");
    const done = await place();
    assert.deepEqual(only(done.placed), ["fresh"]);
    assert.deepEqual(await Promise.all(mine.map(nodeOf)), ["local-2", from, from]);
    assert.deepEqual(only((await place()).placed), []);
    const entries = (await fixture.audits()).filter(({ action }) => action === "server.place");
    assert.deepEqual(
      entries.filter((one) => one.server_name === "fresh").map(({ payload }) => payload),
      [{ from, to: "local-2" }],
    );
    await uncordon(from);
  });

  test("has to be there", async () => {
    const place = (name: string) => fixture.external.call(nodes.placeUnstarted, { name }, staff);
    for (const ask of [cordon, uncordon, place])
      await assert.rejects(
        ask("nowhere"),
        (error) =>
          isFault(error) && error.fault === "not_found" && error.message === "There is no node nowhere.",
      );
  });
});
