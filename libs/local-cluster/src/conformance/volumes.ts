import assert from "node:assert/strict";
import type { Answer, Json } from "./client.ts";
import type { Case, TestContext } from "./test-context.ts";

const volumePath = (name: string) => `/api/v1/persistentvolumes/${name}`;

function volume(name: string, spec: Json = {}): Json {
  const matchExpressions = [{ key: "kubernetes.io/hostname", operator: "In", values: ["no-such-node"] }];
  return {
    metadata: { name },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Retain",
      // Its own storage class: without one a claim of another case or test would take the free volume.
      storageClassName: name,
      local: { path: "/nowhere" },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
      ...spec,
    },
  };
}

function claim(name: string, volumeName: string, storage = "1Gi"): Json {
  const resources = { requests: { storage } };
  return {
    metadata: { name },
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: volumeName, volumeName, resources },
  };
}

/** Creates a volume with a unique name, and removes it at the end: volumes belong to no namespace. */
async function withVolume(
  { expect, call, namespace }: TestContext,
  spec: Json,
  work: (name: string) => Promise<void>,
): Promise<void> {
  const name = `volume-${namespace}`;
  await expect(201, "POST", "/api/v1/persistentvolumes", { body: volume(name, spec) });
  try {
    await work(name);
  } finally {
    await call("DELETE", volumePath(name));
  }
}

const isIn =
  (phase: string) =>
  ({ body }: Answer) =>
    body.status?.phase === phase;
const isGone = ({ status }: Answer) => status === 404;

/** Claims and volumes, without a provisioner. */
export const volumeCases: Case[] = [
  {
    name: "a claim is bound to the free volume it names, and the volume names the claim",
    controllers: true,
    run: (world) =>
      withVolume(world, {}, async (name) => {
        const { expect, path, eventually } = world;
        const made = await expect(201, "POST", path("persistentvolumeclaims"), { body: claim("c", name) });
        const bound = await eventually(path("persistentvolumeclaims", "c"), isIn("Bound"));
        assert.deepEqual([bound.spec.volumeName, bound.status.capacity], [name, { storage: "1Gi" }]);
        const held = await eventually(volumePath(name), isIn("Bound"));
        const { namespace, name: holder, uid } = held.spec.claimRef;
        assert.deepEqual([namespace, holder, uid], [world.namespace, "c", made.metadata.uid]);
      }),
  },
  {
    name: "a volume reserved for one claim is not bound to another",
    controllers: true,
    run: async (world) => {
      const claimRef = { namespace: world.namespace, name: "mine" };
      await withVolume(world, { claimRef }, async (name) => {
        const { expect, path, eventually } = world;
        await expect(201, "POST", path("persistentvolumeclaims"), { body: claim("other", name) });
        await eventually(path("persistentvolumeclaims", "other"), isIn("Pending"));
        assert.notEqual((await expect(200, "GET", volumePath(name))).status?.phase, "Released");
        await expect(201, "POST", path("persistentvolumeclaims"), { body: claim("mine", name) });
        await eventually(path("persistentvolumeclaims", "mine"), isIn("Bound"));
        const other = await expect(200, "GET", path("persistentvolumeclaims", "other"));
        assert.equal(other.status.phase, "Pending");
      });
    },
  },
  {
    name: "a claim that requests more than its volume has stays Pending",
    controllers: true,
    run: (world) =>
      withVolume(world, {}, async (name) => {
        const { expect, path, eventually } = world;
        await expect(201, "POST", path("persistentvolumeclaims"), { body: claim("large", name, "2Gi") });
        await eventually(path("persistentvolumeclaims", "large"), isIn("Pending"));
        await expect(201, "POST", path("persistentvolumeclaims"), { body: claim("small", name) });
        await eventually(path("persistentvolumeclaims", "small"), isIn("Bound"));
        const large = await expect(200, "GET", path("persistentvolumeclaims", "large"));
        assert.equal(large.status.phase, "Pending");
      }),
  },
  {
    name: "a retained volume is Released with its claim, and a new claim of that name does not get it",
    controllers: true,
    run: (world) =>
      withVolume(world, {}, async (name) => {
        const { expect, path, eventually, patch } = world;
        const own = path("persistentvolumeclaims", "c");
        await expect(201, "POST", path("persistentvolumeclaims"), { body: claim("c", name) });
        await eventually(own, isIn("Bound"));
        await expect(200, "DELETE", own);
        await eventually(own, isGone);
        await eventually(volumePath(name), isIn("Released"));
        const body = claim("c", name);
        const again = await expect(201, "POST", path("persistentvolumeclaims"), { body });
        const waiting = await eventually(own, ({ body: { status } }) =>
          ["Pending", "Lost"].includes(status?.phase),
        );
        assert.equal(waiting.metadata.uid, again.metadata.uid);
        // Somebody who knows that the content is no longer needed, or is wanted back, frees the volume.
        await patch("merge", volumePath(name), { spec: { claimRef: { uid: null, resourceVersion: null } } });
        await eventually(own, isIn("Bound"));
      }),
  },
  {
    name: "a claim that a pod uses is kept until the pod is gone",
    controllers: true,
    run: async ({ expect, path, eventually }) => {
      const own = path("persistentvolumeclaims", "c");
      await expect(201, "POST", path("persistentvolumeclaims"), { body: claim("c", "none") });
      await eventually(own, ({ body }) => body.metadata.finalizers?.includes("kubernetes.io/pvc-protection"));
      const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "c" } }];
      const containers = [{ name: "main", image: "example/none:1" }];
      const nodeName = "no-such-node";
      const body = { metadata: { name: "user" }, spec: { containers, volumes, nodeName } };
      await expect(201, "POST", path("pods"), { body });
      await expect(200, "DELETE", own);
      const leaving = await expect(200, "GET", own);
      assert.ok(leaving.metadata.deletionTimestamp);
      await expect(200, "DELETE", `${path("pods", "user")}?gracePeriodSeconds=0`);
      await eventually(own, isGone);
    },
  },
];
