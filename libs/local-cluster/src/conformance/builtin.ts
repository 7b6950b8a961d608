import assert from "node:assert/strict";
import type { Json } from "./client.ts";
import { type Case, causesOf, pod } from "./test-context.ts";

function service(name: string, spec: Json = {}): Json {
  return { apiVersion: "v1", kind: "Service", metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } };
}

/** Behaviour of individual built-in kinds. */
export const builtinCases: Case[] = [
  {
    name: "a pod loses unknown fields and gets its defaults",
    run: async ({ expect, path }) => {
      const body: Json = pod("a", "example/none");
      body.spec.bogus = 1;
      Object.assign(body.spec.containers[0], {
        ports: [{ containerPort: 80 }],
        resources: { limits: { cpu: 1, memory: "1024Mi" } },
        readinessProbe: { httpGet: { port: "http" } },
      });
      const { spec, status } = await expect(201, "POST", path("pods"), { body });
      assert.equal(spec.bogus, undefined);
      assert.deepEqual(
        [spec.restartPolicy, spec.terminationGracePeriodSeconds, spec.dnsPolicy],
        ["Always", 30, "ClusterFirst"],
      );
      const [container] = spec.containers;
      assert.deepEqual(container.ports, [{ containerPort: 80, protocol: "TCP" }]);
      assert.deepEqual(container.resources.requests, { cpu: "1", memory: "1Gi" });
      assert.equal(container.imagePullPolicy, "Always");
      assert.deepEqual(container.readinessProbe, {
        ...{ failureThreshold: 3, periodSeconds: 10, successThreshold: 1, timeoutSeconds: 1 },
        httpGet: { path: "/", port: "http", scheme: "HTTP" },
      });
      assert.deepEqual([status.phase, status.qosClass], ["Pending", "Guaranteed"]);
    },
  },
  {
    name: "a pod without containers, or with a mount of an unknown volume, is 422",
    run: async ({ expect, path }) => {
      const empty = await expect(422, "POST", path("pods"), { body: { metadata: { name: "a" }, spec: {} } });
      assert.deepEqual(causesOf(empty), ["spec.containers FieldValueRequired"]);
      const body: Json = pod("a");
      body.spec.containers[0].volumeMounts = [{ name: "none", mountPath: "/x" }];
      const refused = await expect(422, "POST", path("pods"), { body });
      assert.deepEqual(causesOf(refused), ["spec.containers[0].volumeMounts[0].name FieldValueNotFound"]);
    },
  },
  {
    name: "a pod's image can be changed, the rest of its spec cannot",
    run: async ({ expect, path, patch }) => {
      const made = await expect(201, "POST", path("pods"), { body: pod("a") });
      made.spec.containers[0].image = "example/other:2";
      const changed = await expect(200, "PUT", path("pods", "a"), { body: made });
      assert.equal(changed.spec.containers[0].image, "example/other:2");
      const refused = await patch("merge", path("pods", "a"), { spec: { terminationGracePeriodSeconds: 5 } });
      assert.deepEqual([refused.status, causesOf(refused.body)], [422, ["spec FieldValueForbidden"]]);
    },
  },
  {
    name: "a pod's status is written by its subresource only",
    run: async ({ expect, path, patch }) => {
      await expect(201, "POST", path("pods"), { body: pod("a") });
      await patch("merge", path("pods", "a"), { status: { phase: "Running" } });
      assert.equal((await expect(200, "GET", path("pods", "a"))).status.phase, "Pending");
      const conditions = [{ type: "Ready", status: "True" }];
      await patch("strategic", path("pods", "a", "status"), {
        status: { phase: "Running", podIP: "10.1.1.1", conditions },
      });
      const { status } = await expect(200, "GET", path("pods", "a", "status"));
      assert.deepEqual(
        [status.phase, status.podIP, status.conditions[0].type],
        ["Running", "10.1.1.1", "Ready"],
      );
    },
  },
  {
    name: "a pod is bound once, and then its delete waits for the node",
    run: async ({ expect, path }) => {
      await expect(201, "POST", path("pods"), { body: pod("a") });
      const binding = {
        apiVersion: "v1",
        kind: "Binding",
        metadata: { name: "a" },
        target: { apiVersion: "v1", kind: "Node", name: "no-such-node" },
      };
      await expect(201, "POST", path("pods", "a", "binding"), { body: binding });
      assert.equal((await expect(200, "GET", path("pods", "a"))).spec.nodeName, "no-such-node");
      await expect(409, "POST", path("pods", "a", "binding"), { body: binding });
      const leaving = await expect(200, "DELETE", path("pods", "a"));
      assert.equal(leaving.metadata.deletionGracePeriodSeconds, 30);
      const marked = await expect(200, "GET", path("pods", "a"));
      assert.ok(Date.parse(marked.metadata.deletionTimestamp) > Date.now() + 15_000);
      await expect(200, "DELETE", `${path("pods", "a")}?gracePeriodSeconds=0`);
      await expect(404, "GET", path("pods", "a"));
    },
  },
  {
    name: "a pod without a node is deleted at once and has no log",
    run: async ({ expect, path }) => {
      await expect(201, "POST", path("pods"), { body: pod("a") });
      await expect(204, "GET", path("pods", "a", "log"));
      await expect(400, "GET", `${path("pods", "a", "log")}?container=none`);
      await expect(200, "DELETE", path("pods", "a"));
      await expect(404, "GET", path("pods", "a"));
      await expect(404, "GET", path("pods", "a", "log"));
    },
  },
  {
    name: "a secret folds stringData into data, keeps its type and rejects invalid base64",
    run: async ({ expect, path, patch }) => {
      const body = { metadata: { name: "s" }, stringData: { a: "plain" }, data: { b: "Ynl0ZXM=" } };
      const made = await expect(201, "POST", path("secrets"), { body });
      assert.deepEqual(made.data, { a: "cGxhaW4=", b: "Ynl0ZXM=" });
      assert.deepEqual([made.type, made.stringData], ["Opaque", undefined]);
      const retyped = await patch("merge", path("secrets", "s"), { type: "other" });
      assert.deepEqual([retyped.status, causesOf(retyped.body)], [422, ["type FieldValueInvalid"]]);
      await expect(400, "POST", path("secrets"), { body: { metadata: { name: "t" }, data: { b: "***" } } });
    },
  },
  {
    name: "an immutable config map cannot be changed",
    run: async ({ expect, path, patch }) => {
      const body = { metadata: { name: "c" }, data: { k: "1" }, immutable: true };
      await expect(201, "POST", path("configmaps"), { body });
      const refused = await patch("merge", path("configmaps", "c"), { data: { k: "2" } });
      assert.deepEqual([refused.status, causesOf(refused.body)], [422, ["data FieldValueForbidden"]]);
    },
  },
  {
    name: "a service gets its own address and keeps it, a headless one gets none",
    run: async ({ expect, path, patch }) => {
      const one = await expect(201, "POST", path("services"), { body: service("one") });
      const two = await expect(201, "POST", path("services"), { body: service("two") });
      assert.match(one.spec.clusterIP, /^\d+\.\d+\.\d+\.\d+$/);
      assert.notEqual(one.spec.clusterIP, two.spec.clusterIP);
      assert.deepEqual(one.spec.ports, [{ port: 80, protocol: "TCP", targetPort: 80 }]);
      assert.deepEqual([one.spec.type, one.spec.sessionAffinity], ["ClusterIP", "None"]);
      const headless = await expect(201, "POST", path("services"), {
        body: service("none", { clusterIP: "None" }),
      });
      assert.equal(headless.spec.clusterIP, "None");
      const moved = await patch("merge", path("services", "one"), {
        spec: { clusterIP: two.spec.clusterIP },
      });
      assert.equal(moved.status, 422);
      const clash = await expect(422, "POST", path("services"), {
        body: service("x", { clusterIP: two.spec.clusterIP }),
      });
      assert.match(clash.message, /already allocated/);
      assert.equal(
        (await expect(422, "POST", path("services"), { body: service("1bad") })).reason,
        "Invalid",
      );
    },
  },
  {
    name: "of two clients that read the same version one takes a lease",
    run: async ({ expect, path, call }) => {
      const resource = "coordination.k8s.io/v1/leases";
      const body = {
        metadata: { name: "l" },
        spec: { holderIdentity: "x", leaseDurationSeconds: 15, renewTime: "2026-01-01T00:00:00.000000Z" },
      };
      const lease = await expect(201, "POST", path(resource), { body });
      assert.equal(lease.spec.renewTime, "2026-01-01T00:00:00.000000Z");
      const claim = (holderIdentity: string) =>
        call("PUT", path(resource, "l"), { body: { ...lease, spec: { ...lease.spec, holderIdentity } } });
      const answers = await Promise.all([claim("a"), claim("b")]);
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
    },
  },
  {
    name: "an event belongs to the namespace of its object and is found by its fields",
    run: async ({ expect, path, namespace }) => {
      const body = {
        metadata: { name: "e" },
        involvedObject: { kind: "Pod", name: "p", namespace },
        reason: "Tested",
        type: "Normal",
      };
      await expect(201, "POST", path("events"), { body });
      const found = await expect(
        200,
        "GET",
        `${path("events")}?fieldSelector=involvedObject.name%3Dp,reason%3DTested`,
      );
      assert.equal(found.items.length, 1);
      const stray = {
        ...body,
        metadata: { name: "f" },
        involvedObject: { kind: "Pod", name: "p", namespace: "default" },
      };
      assert.equal((await expect(422, "POST", path("events"), { body: stray })).reason, "Invalid");
    },
  },
  {
    name: "a claim requests storage and cannot shrink",
    run: async ({ expect, path, patch }) => {
      const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
      const none = await expect(422, "POST", path("persistentvolumeclaims"), {
        body: { metadata: { name: "c" }, spec: {} },
      });
      assert.ok(causesOf(none).includes("spec.resources[storage] FieldValueRequired"));
      const made = await expect(201, "POST", path("persistentvolumeclaims"), {
        body: { metadata: { name: "c" }, spec },
      });
      assert.deepEqual([made.status.phase, made.spec.volumeMode], ["Pending", "Filesystem"]);
      const smaller = { spec: { resources: { requests: { storage: "512Mi" } } } };
      assert.equal((await patch("merge", path("persistentvolumeclaims", "c"), smaller)).status, 422);
    },
  },
];
