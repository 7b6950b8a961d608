import assert from "node:assert/strict";
import type { Json } from "./client.ts";
import { type Case, configMap } from "./test-context.ts";

const ten = Array.from({ length: 10 }, (_, index) => String(index));

/** Guarantees for concurrent writers and for readers that reconnect. */
export const concurrencyCases: Case[] = [
  {
    name: "of ten updates of one version exactly one succeeds",
    run: async ({ expect, path, call }) => {
      const first = await expect(201, "POST", path("configmaps"), { body: configMap("a") });
      const update = (k: string) => call("PUT", path("configmaps", "a"), { body: { ...first, data: { k } } });
      const answers = await Promise.all(ten.map(update));
      const statuses = answers.map(({ status }) => status).sort();
      assert.deepEqual(statuses, [200, ...ten.slice(1).map(() => 409)]);
      const winner = answers.find(({ status }) => status === 200)?.body;
      assert.deepEqual((await expect(200, "GET", path("configmaps", "a"))).data, winner.data);
    },
  },
  {
    name: "of ten creates of one name exactly one succeeds",
    run: async ({ path, call }) => {
      const create = (k: string) => call("POST", path("configmaps"), { body: configMap("a", { k }) });
      const statuses = (await Promise.all(ten.map(create))).map(({ status }) => status).sort();
      assert.deepEqual(statuses, [201, ...ten.slice(1).map(() => 409)]);
    },
  },
  {
    name: "patches without a version all take effect",
    run: async ({ expect, path, patch }) => {
      await expect(201, "POST", path("configmaps"), { body: configMap("a") });
      const answers = await Promise.all(
        ten.map((k) => patch("merge", path("configmaps", "a"), { data: { [k]: "v" } })),
      );
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      assert.deepEqual(Object.keys((await expect(200, "GET", path("configmaps", "a"))).data).sort(), ten);
    },
  },
  {
    name: "a write of the status makes earlier versions of the object stale",
    run: async ({ expect, path, patch }) => {
      const spec = { containers: [{ name: "main", image: "example/none:1" }] };
      const first = await expect(201, "POST", path("pods"), { body: { metadata: { name: "a" }, spec } });
      const status = { phase: "Running" };
      assert.equal((await patch("merge", path("pods", "a", "status"), { status })).status, 200);
      await expect(409, "PUT", path("pods", "a"), { body: first });
    },
  },
  {
    name: "a watch that is resumed misses nothing and repeats nothing",
    run: async ({ expect, path, watch, patch }) => {
      await expect(201, "POST", path("configmaps"), { body: configMap("a", {}, { w: "1" }) });
      const list = await expect(200, "GET", `${path("configmaps")}?labelSelector=w`);
      const from = (version: string) =>
        watch(`${path("configmaps")}?watch=1&labelSelector=w&resourceVersion=${version}`);
      const change = (k: string) => patch("merge", path("configmaps", "a"), { data: { k } });
      const seen: Json[] = [];
      let version: string = list.metadata.resourceVersion;
      for (const part of [ten.slice(0, 3), ten.slice(3, 7), ten.slice(7)]) {
        // The first half happens without a watch, the second during one.
        await change(part[0] ?? "");
        const stream = await from(version);
        for (const k of part.slice(1)) await change(k);
        for (const _ of part) seen.push(await stream.next());
        stream.end();
        version = seen.at(-1).object.metadata.resourceVersion;
      }
      assert.deepEqual(
        seen.map(({ type, object }) => `${type} ${object.data.k}`),
        ten.map((k) => `MODIFIED ${k}`),
      );
      const versions = seen.map(({ object }) => Number(object.metadata.resourceVersion));
      assert.deepEqual(
        versions,
        [...new Set(versions)].sort((a, b) => a - b),
      );
    },
  },
  {
    name: "an object that was replaced while nobody watched is deleted and added, under another uid",
    run: async ({ expect, path, watch }) => {
      const first = await expect(201, "POST", path("configmaps"), { body: configMap("a") });
      await expect(200, "DELETE", path("configmaps", "a"));
      await expect(201, "POST", path("configmaps"), { body: configMap("a") });
      const query = `watch=1&fieldSelector=metadata.name%3Da&resourceVersion=${first.metadata.resourceVersion}`;
      const stream = await watch(`${path("configmaps")}?${query}`);
      const [gone, added] = [await stream.next(), await stream.next()];
      stream.end();
      assert.deepEqual([gone.type, added.type], ["DELETED", "ADDED"]);
      assert.equal(gone.object.metadata.uid, first.metadata.uid);
      assert.notEqual(added.object.metadata.uid, first.metadata.uid);
    },
  },
  {
    name: "a watch of one name sees no other object",
    run: async ({ expect, path, watch }) => {
      await expect(201, "POST", path("configmaps"), { body: configMap("a") });
      const stream = await watch(`${path("configmaps")}?watch=1&fieldSelector=metadata.name%3Db`);
      await expect(201, "POST", path("configmaps"), { body: configMap("c") });
      await expect(201, "POST", path("configmaps"), { body: configMap("b") });
      assert.equal((await stream.next()).object.metadata.name, "b");
      stream.end();
    },
  },
  {
    name: "an object that is being deleted keeps its name, can be changed, and its deletion cannot be undone",
    run: async ({ expect, path, patch }) => {
      const body: Json = configMap("a");
      body.metadata.finalizers = ["example.svc/hold"];
      await expect(201, "POST", path("configmaps"), { body });
      const leaving = await expect(200, "DELETE", path("configmaps", "a"));
      const taken = await expect(409, "POST", path("configmaps"), { body: configMap("a") });
      assert.match(taken.message, /^object is being deleted: configmaps "a" already exists$/);
      const changed = await patch("merge", path("configmaps", "a"), {
        metadata: { deletionTimestamp: null },
        data: { k: "v" },
      });
      assert.equal(changed.status, 200);
      assert.deepEqual(changed.body.data, { k: "v" });
      assert.equal(changed.body.metadata.deletionTimestamp, leaving.metadata.deletionTimestamp);
    },
  },
  {
    name: "a dependent whose owner is missing, or has another uid, is collected",
    controllers: true,
    run: async ({ expect, path, eventually }) => {
      await expect(201, "POST", path("configmaps"), { body: configMap("owner") });
      const uid = "00000000-0000-4000-8000-000000000000";
      for (const name of ["owner", "never"]) {
        const body: Json = configMap(`of-${name}`);
        body.metadata.ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name, uid }];
        await expect(201, "POST", path("configmaps"), { body });
        await eventually(path("configmaps", `of-${name}`), ({ status }) => status === 404);
      }
      await expect(200, "GET", path("configmaps", "owner"));
    },
  },
];
