// The command against the embedded API and pods of its nodes, which have no network policies and know no impersonation.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { connectKube, type Kube, resources } from "@svc/kube";
import { type LocalCluster, startLocalCluster } from "@svc/local-cluster";
import { joinTaint, nodeLabels } from "@svc/proto/node-labels";
import { probeNamespace } from "./probe-objects.ts";

const main = join(import.meta.dirname, "../../main.ts");
const name = "local-2";
const cordoned = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };
const confirmed = ["--confirm", "encryption,host-firewall,kubelet-rights"];
const given = ["--reference", "local-1", "--image", "node-image"];

let dir: string;
let cluster: LocalCluster;
let kube: Kube;
let kubeconfig: string;

async function writeKubeconfig(file: string, server: string): Promise<string> {
  const config = {
    ...{ apiVersion: "v1", kind: "Config", "current-context": "c" },
    clusters: [{ name: "c", cluster: { server } }],
    users: [{ name: "u", user: { token: cluster.adminToken } }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
  };
  await writeFile(join(dir, file), JSON.stringify(config), { mode: 0o600 });
  return join(dir, file);
}

before(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-approve-"));
  const images = join(dir, "images.json");
  await writeFile(images, JSON.stringify({ "node-image": { command: [process.execPath] } }));
  cluster = await startLocalCluster({ dataDir: join(dir, "cluster"), port: 0, images, nodes: 2 });
  kubeconfig = await writeKubeconfig("kubeconfig", cluster.url);
  kube = connectKube({ kubeconfigFile: kubeconfig });
  await writeFile(join(dir, "open.yaml"), "networkPolicies: { enabled: false }\n");
});
after(async () => {
  kube.close();
  await cluster.close();
  await rm(dir, { recursive: true, force: true });
});

/** As it has joined: with a taint, another controller's too, and no labels of ours. */
beforeEach(async () => {
  const labels = { [nodeLabels.approved]: null, [nodeLabels.identity]: null, [nodeLabels.role]: null };
  const merge = { metadata: { labels }, spec: { taints: [joinTaint, cordoned] } };
  await kube.patch(resources.nodes, { name }, { merge });
});

type Run = { args: string[]; config?: string; onChild?: (child: ReturnType<typeof spawn>) => void };

async function svc({ args, config = kubeconfig, onChild }: Run) {
  const all = [main, "node", "approve", name, "--kubeconfig", config, ...given, ...args];
  const child = spawn(process.execPath, all, { stdio: ["ignore", "pipe", "pipe"] });
  onChild?.(child);
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (text += data));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, text };
}

async function nodeNow() {
  const { metadata, spec } = await kube.get(resources.nodes, { name });
  const { [nodeLabels.approved]: approved, [nodeLabels.role]: role } = metadata.labels ?? {};
  const identity = metadata.labels?.[nodeLabels.identity];
  return { approved, role, identity, taints: spec?.taints?.map(({ key }) => key) };
}
const joined = {
  ...{ approved: undefined, role: undefined, identity: undefined },
  taints: [joinTaint.key, cordoned.key],
};
const approved = { approved: "true", role: "worker", identity: name, taints: [cordoned.key] };
const open = () => ["--values", join(dir, "open.yaml")];

test("without --yes a plan is printed and nothing is done", async () => {
  const { code, text } = await svc({ args: [] });
  assert.equal(code, 0);
  assert.match(text, /Plan: probe local-2; .*\n.*compare architecture and version with local-1/);
  assert.deepEqual(await nodeNow(), joined);
});

test("without a kubeconfig it says which one it looked for, and that a local stack needs none", async () => {
  const { code, text } = await svc({ args: [], config: join(dir, "nowhere") });
  assert.equal(code, 1);
  assert.match(
    text,
    /nowhere not found; name the kubeconfig of the cluster with --kubeconfig FILE\. .*local stack/,
  );
});

test("a network that enforces no policies is found out, and the taint stays", async () => {
  const { code, text } = await svc({ args: [...confirmed, "--yes"] });
  assert.equal(code, 1, text);
  assert.match(text, /ok {3}image +node-image runs there/);
  for (const [from, to] of [
    ["local-1", "local-2"],
    ["local-2", "local-1"],
  ]) {
    assert.match(text, new RegExp(`ok   client on ${from} to ${to} +connects, and is seen as 127\\.`));
    assert.match(text, new RegExp(`BAD  stranger on ${from} to ${to} +connects though no policy lets it in`));
    assert.match(text, new RegExp(`BAD  fenced on ${from} to ${to} +connects though no policy lets it out`));
  }
  assert.match(text, /local-2 keeps its taint/);
  assert.deepEqual(await nodeNow(), joined);
});

test("what svc cannot see keeps the taint until it is confirmed", async () => {
  const refused = await svc({ args: [...open(), "--yes"] });
  assert.equal(refused.code, 1, refused.text);
  for (const one of ["encryption", "host-firewall", "kubelet-rights"])
    assert.match(refused.text, new RegExp(`add --confirm ${one}`));
  assert.deepEqual(await nodeNow(), joined);
  const { code, text } = await svc({ args: [...open(), ...confirmed, "--yes"] });
  assert.equal(code, 0, text);
  assert.match(text, /local-2 is approved and takes servers/);
  assert.deepEqual(await nodeNow(), approved);
});

test("an image that is not there keeps the taint, with the reason", async () => {
  const { code, text } = await svc({ args: [...open(), ...confirmed, "--yes", "--image", "missing:1"] });
  assert.equal(code, 1, text);
  assert.match(text, /BAD {2}image +missing:1 did not run on local-2: .*Image/);
  assert.deepEqual(await nodeNow(), joined);
});

const mistakes: [fact: string, args: string[], expected: 1 | 2, says: RegExp][] = [
  ["an unknown word to confirm is refused", ["--confirm", "all"], 2, /can be encryption, host-firewall/],
  ["a node is not compared with itself", ["--reference", name], 2, /must be another node/],
  ["an unknown reference is refused with the names", ["--reference", "x"], 1, /nodes are local-1, local-2/],
];
for (const [fact, args, expected, says] of mistakes)
  test(fact, async () => {
    const { code, text } = await svc({ args });
    assert.equal(code, expected);
    assert.match(text, says);
  });

describe("killed", () => {
  /** Passes requests on, and kills the command instead of passing on the first one that `isLast` names. */
  async function killAt(isLast: (method: string, url: string, type: string) => boolean): Promise<void> {
    let kill = () => {};
    const proxy = createServer((incoming, outgoing) => {
      const { method = "", url = "", headers } = incoming;
      if (isLast(method, url, headers["content-type"] ?? "")) {
        kill();
        return;
      }
      const onward = request(new URL(url, cluster.url), { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      });
      onward.on("error", () => outgoing.destroy());
      incoming.pipe(onward);
    });
    await once(proxy.listen(0, "127.0.0.1"), "listening");
    const { port } = proxy.address() as AddressInfo;
    const config = await writeKubeconfig("through-proxy", `http://127.0.0.1:${port}`);
    const onChild: Run["onChild"] = (child) => {
      kill = () => child.kill("SIGKILL");
    };
    const { code } = await svc({ args: [...open(), ...confirmed, "--yes"], config, onChild });
    assert.equal(code, null, "it was killed");
    proxy.closeAllConnections();
    proxy.close();
  }
  const repeated = async () => {
    const { code, text } = await svc({ args: [...open(), ...confirmed, "--yes"] });
    assert.equal(code, 0, text);
    assert.deepEqual(await nodeNow(), approved);
  };

  test("between the label and the taint it keeps the taint, and ends when it is repeated", async () => {
    await killAt(
      (method, url, type) => method === "PATCH" && /nodes\/local-2$/.test(url) && /json-patch/.test(type),
    );
    assert.deepEqual(await nodeNow(), { ...approved, taints: joined.taints });
    await repeated();
  });

  test("while its pods run it approves nothing; a repeat removes them first", async () => {
    await killAt((method, url) => method === "DELETE" && url.includes("svc-probe-"));
    assert.deepEqual(await nodeNow(), joined);
    assert.ok(await kube.find(resources.namespaces, { name: probeNamespace(name) }));
    await repeated();
  });
});
