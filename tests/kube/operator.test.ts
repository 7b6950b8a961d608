// The reconciler on a real API server, with no more rights than the shipped Roles give it. There is no kubelet: a stand-in
// says of pods what a node would say. SVC_KUBE_LANE names the kubeconfig, as in conformance.test.ts.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { connectKube, isKubeError, type Kube, resources } from "@svc/kube";
import { acquireLock } from "@svc/world-lock";
import { parse, stringify } from "yaml";
import { until } from "../../libs/mesh/src/testing.ts";
import { annotation, servers } from "../../services/lifecycle/src/cluster/resource.ts";
import { walkToConvergence } from "../../services/lifecycle/src/testing/convergence.ts";
import { type FakeNode, startFakeNode } from "../../services/lifecycle/src/testing/fake-node.ts";
import { fastSettings } from "../../services/lifecycle/src/testing/fast-settings.ts";
import {
  type OperatorFixture,
  openOperatorFixture,
} from "../../services/lifecycle/src/testing/operator-fixture.ts";
import { applyManifest, applyRelease } from "../../services/lifecycle/src/testing/release-manifests.ts";

const lane = process.env["SVC_KUBE_LANE"];
const seed = Number(process.env["SVC_WALK_SEED"] ?? Math.floor(Math.random() * 2 ** 32));
const namespace = "minecraft";

/** A kubeconfig of the service's own account, as a pod of it would have. */
async function serviceKubeconfig(kube: Kube, from: string, dir: string): Promise<string> {
  const path = "/api/v1/namespaces/svc/serviceaccounts/lifecycle/token";
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
  const answer = (await kube.transport.request({ method: "POST", path, body })) as {
    status: { token: string };
  };
  const config = parse(readFileSync(from, "utf8")) as { users: { name: string; user: object }[] };
  config.users = config.users.map(({ name }) => ({ name, user: { token: answer.status.token } }));
  const file = join(dir, "kubeconfig.lifecycle");
  writeFileSync(file, stringify(config), { mode: 0o600 });
  return file;
}

describe("the operator on a real API server", () => {
  if (!lane) {
    test("skipped: set SVC_KUBE_LANE to the kubeconfig of a real API server", (t) =>
      t.skip("SVC_KUBE_LANE is not set"));
    return;
  }
  const dir = mkdtempSync(join(tmpdir(), "svc-kube-operator-"));
  const kube = connectKube({ kubeconfigFile: lane });
  let place: Parameters<typeof openOperatorFixture>[0];
  before(async () => {
    await applyRelease(kube);
    await until(() =>
      kube.list(servers, { namespace }).then(
        () => true,
        () => false,
      ),
    );
    place = { kube, namespace, serviceKubeconfig: await serviceKubeconfig(kube, lane, dir) };
  });
  after(async () => {
    kube.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test("the shipped NetworkPolicies are taken", () => applyManifest(kube, "base/network-game.yaml"));

  describe("one server through its life", () => {
    const name = `life-${seed.toString(36)}`;
    const target = { name, namespace };
    let operators: OperatorFixture;
    let node: FakeNode;
    before(async () => {
      operators = await openOperatorFixture(place);
      node = await startFakeNode({ kube, namespace, getsReady: () => true });
      await operators.start([...fastSettings, "lifecycle.platform_image=svc.local/svc:1"]);
    });
    after(async () => {
      await kube.remove(servers, target).catch(() => undefined);
      await node.stop();
      await operators.close();
    });

    const change = (merge: unknown) => kube.patch(servers, target, { merge });
    const read = () => kube.get(servers, target);
    const isIn = (phase: string) => until(async () => (await read()).status?.phase === phase, 20_000);
    const reasonOf = async (type: string) =>
      (await read()).status?.conditions?.find((condition) => condition.type === type)?.reason;

    test("it starts: Services, Secret and set are made as the API server takes them", async () => {
      await operators.makeServer(name);
      await isIn("Stopped");
      await change({ spec: { desiredState: "Running" } });
      await isIn("Running");
      const { status } = await read();
      assert.match(status?.endpoint?.address ?? "", /^\d+\.\d+\.\d+\.\d+:25565$/);
      assert.equal(status?.startRequestedAt, undefined);
      const set = await kube.get(resources.statefulSets, target);
      const pod = await kube.get(resources.pods, { name: `${name}-0`, namespace });
      assert.deepEqual(
        pod.spec?.initContainers?.map((container) => container.name),
        ["prepare-data", "init-forwarding", "egress-gate"],
      );
      assert.equal(set.metadata.ownerReferences?.[0]?.name, name);
      assert.equal(
        (await kube.get(resources.services, { name: `${name}-hl`, namespace })).spec?.clusterIP,
        "None",
      );
    });

    test("an idle pass changes nothing: the set that comes back with defaults is not written again", async () => {
      const generation = async () => (await kube.get(resources.statefulSets, target)).metadata.generation;
      const before = await generation();
      // The last counts of a start come some moments after it; then nothing more is written, pass after pass.
      await until(async () => {
        const { writes, probes } = operators.counts;
        await until(() => operators.counts.probes > probes + 3);
        return operators.counts.writes === writes;
      });
      assert.equal(await generation(), before);
    });

    test("it is restarted on request, with another pod", async () => {
      const uidOf = async () =>
        (await kube.find(resources.pods, { name: `${name}-0`, namespace }))?.metadata.uid;
      const before = await uidOf();
      await change({ metadata: { annotations: { [annotation.restart]: new Date().toISOString() } } });
      await until(async () => {
        const now = await uidOf();
        return now !== undefined && now !== before && (await read()).status?.phase === "Running";
      }, 20_000);
      assert.equal((await read()).metadata.annotations?.[annotation.restart], undefined);
    });

    test("a running server cannot be locked, a stopped one can, and then it does not start", async () => {
      const options = { kind: "backup", mustBeStopped: true } as const;
      await assert.rejects(acquireLock({ kube }, target, options), { fault: "not_stopped" });
      await change({ spec: { desiredState: "Stopped" } });
      await isIn("Stopped");
      const hold = await acquireLock({ kube }, target, options);
      await change({ spec: { desiredState: "Running" } });
      await until(async () => (await reasonOf("Ready")) === "MaintenanceInProgress");
      assert.equal((await kube.get(resources.statefulSets, target)).spec.replicas, 0);
      await hold.release();
      await isIn("Running");
    });

    test("a set whose world was moved is rebuilt for its own claim, and the old world stays", async () => {
      await change({ spec: { desiredState: "Stopped" } });
      await isIn("Stopped");
      const claim = { name: `world-${name}-0`, namespace };
      assert.ok(await kube.find(resources.claims, claim));
      await change({ spec: { desiredState: "Running", storage: { claimName: `moved-${name}` } } });
      await isIn("Running");
      const set = await kube.get(resources.statefulSets, target);
      assert.equal(set.spec.volumeClaimTemplates?.length ?? 0, 0);
      assert.equal(set.spec.template.spec?.volumes?.[0]?.persistentVolumeClaim?.claimName, `moved-${name}`);
      assert.ok(await kube.find(resources.claims, claim));
    });

    test("Events report what happened", async () => {
      const reasons = async () => {
        const fieldSelector = `involvedObject.name=${name}`;
        const { items } = await kube.list(resources.events, { namespace, fieldSelector });
        return new Set(items.map(({ reason }) => reason));
      };
      const wanted = [
        "RconSecretCreated",
        "RconReached",
        "RestartRequested",
        "PodNotReady",
        "Stopping",
        "Stopped",
      ];
      await until(async () => {
        const found = await reasons();
        return wanted.every((reason) => found.has(reason));
      });
    });

    test("deleting the object deletes what belongs to it, but never the world", async () => {
      await change({ spec: { desiredState: "Stopped" } });
      await isIn("Stopped");
      await kube.remove(servers, target);
      await until(
        async () =>
          (await kube.find(resources.statefulSets, target)) === undefined &&
          (await kube.find(resources.secrets, { name: `${name}-rcon`, namespace })) === undefined,
        // A garbage collector learns of a new kind every 30 s.
        90_000,
      );
      assert.ok(await kube.find(resources.claims, { name: `world-${name}-0`, namespace }));
    });
  });

  test("the service has only the rights of its Role", async () => {
    const own = connectKube({ kubeconfigFile: place.serviceKubeconfig });
    try {
      const forbidden = [
        () => own.list(resources.secrets, { namespace }),
        () => own.remove(resources.claims, { name: "world-x-0", namespace }),
        () => own.list(resources.secrets, { namespace: "svc" }),
        () => own.list(resources.pods, { namespace: "kube-system" }),
      ];
      for (const call of forbidden) await assert.rejects(call, (error) => isKubeError(error, 403));
    } finally {
      own.close();
    }
  });

  test("any sequence of events converges here as well", async (t) => {
    t.diagnostic(`SVC_WALK_SEED=${seed}`);
    await walkToConvergence(place, { seed, servers: 6, steps: 200 });
  });
});
