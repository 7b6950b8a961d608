import assert from "node:assert/strict";
import type { Json } from "./client.ts";
import { type Case, configMap } from "./test-context.ts";
import { withWidgets } from "./widgets.ts";

/** The three kinds of patch. */
export const patchingCases: Case[] = [
  {
    name: "a merge patch sets, removes by null and replaces lists",
    run: async ({ expect, path, patch }) => {
      await expect(201, "POST", path("configmaps"), {
        body: configMap("a", { keep: "1", drop: "2" }, { l: "1" }),
      });
      const { status, body } = await patch("merge", path("configmaps", "a"), {
        metadata: { labels: null },
        data: { drop: null, add: "3" },
      });
      assert.equal(status, 200);
      assert.deepEqual(body.data, { keep: "1", add: "3" });
      assert.equal(body.metadata.labels, undefined);
    },
  },
  {
    name: "a patch with a stale version is 409",
    run: async ({ expect, path, patch }) => {
      const made = await expect(201, "POST", path("configmaps"), { body: configMap("a") });
      await patch("merge", path("configmaps", "a"), { data: { k: "1" } });
      const { resourceVersion } = made.metadata;
      const stale = await patch("merge", path("configmaps", "a"), {
        metadata: { resourceVersion },
        data: { k: "2" },
      });
      assert.deepEqual([stale.status, stale.body.reason], [409, "Conflict"]);
    },
  },
  {
    name: "a JSON patch applies its operations in order, or none of them when a test fails",
    run: async ({ expect, path, patch }) => {
      await expect(201, "POST", path("configmaps"), { body: configMap("a", { k: "1" }) });
      const done = await patch("json", path("configmaps", "a"), [
        { op: "test", path: "/data/k", value: "1" },
        { op: "replace", path: "/data/k", value: "2" },
        { op: "add", path: "/data/x", value: "3" },
        { op: "copy", from: "/data/k", path: "/data/c" },
        { op: "move", from: "/data/c", path: "/data/m" },
      ]);
      assert.equal(done.status, 200, JSON.stringify(done.body));
      assert.deepEqual(done.body.data, { k: "2", x: "3", m: "2" });
      const failed = await patch("json", path("configmaps", "a"), [
        { op: "replace", path: "/data/k", value: "9" },
        { op: "test", path: "/data/m", value: "no" },
      ]);
      assert.deepEqual([failed.status, failed.body.reason], [422, "Invalid"]);
      assert.equal((await expect(200, "GET", path("configmaps", "a"))).data.k, "2");
    },
  },
  {
    name: "a strategic merge patch merges lists by their keys and supports directives",
    run: async ({ expect, path, patch }) => {
      const template = {
        metadata: { labels: { app: "d" } },
        spec: {
          containers: [
            { name: "one", image: "example/one:1", env: [{ name: "A", value: "1" }] },
            { name: "two", image: "example/two:1" },
          ],
        },
      };
      const body = {
        metadata: { name: "d" },
        spec: { replicas: 0, selector: { matchLabels: { app: "d" } }, template },
      };
      await expect(201, "POST", path("apps/v1/deployments"), { body });
      const target = path("apps/v1/deployments", "d");
      const containersOf = async (change: unknown): Promise<Json[]> => {
        const answer = await patch("strategic", target, {
          spec: { template: { spec: { containers: change } } },
        });
        assert.equal(answer.status, 200, JSON.stringify(answer.body));
        return answer.body.spec.template.spec.containers;
      };
      const merged = await containersOf([
        { name: "one", image: "example/one:2", env: [{ name: "B", value: "2" }] },
      ]);
      const one = merged.find(({ name }) => name === "one");
      assert.equal(merged.length, 2);
      assert.equal(one.image, "example/one:2");
      assert.deepEqual(one.env.map((entry: Json) => entry.name).sort(), ["A", "B"]);
      const removed = await containersOf([{ name: "two", $patch: "delete" }]);
      assert.deepEqual(
        removed.map(({ name }) => name),
        ["one"],
      );
      const replaced = await containersOf([
        { $patch: "replace" },
        { name: "three", image: "example/three:1" },
      ]);
      assert.deepEqual(
        replaced.map(({ name }) => name),
        ["three"],
      );
    },
  },
  {
    name: "a strategic merge patch adds finalizers, and deletes one by directive",
    run: async ({ expect, path, patch }) => {
      const body: Json = configMap("a");
      body.metadata.finalizers = ["example.svc/a"];
      await expect(201, "POST", path("configmaps"), { body });
      const added = await patch("strategic", path("configmaps", "a"), {
        metadata: { finalizers: ["example.svc/b"] },
      });
      assert.deepEqual([...added.body.metadata.finalizers].sort(), ["example.svc/a", "example.svc/b"]);
      const cut = await patch("strategic", path("configmaps", "a"), {
        metadata: { "$deleteFromPrimitiveList/finalizers": ["example.svc/a"] },
      });
      assert.deepEqual(cut.body.metadata.finalizers, ["example.svc/b"]);
      await patch("merge", path("configmaps", "a"), { metadata: { finalizers: null } });
    },
  },
  {
    name: "a strategic merge patch of a custom resource is 415, and so is an unknown patch type",
    run: (world) =>
      withWidgets(world, async (widgets) => {
        await world.expect(201, "POST", widgets.path(), { body: widgets.make("a") });
        const refused = await world.patch("strategic", widgets.path("a"), { spec: { size: "m" } });
        assert.deepEqual([refused.status, refused.body.reason], [415, "UnsupportedMediaType"]);
        await world.expect(415, "PATCH", widgets.path("a"), { body: {}, type: "application/json" });
        const merged = await world.patch("merge", widgets.path("a"), { spec: { size: "m" } });
        assert.equal(merged.body.spec.size, "m");
        const patched = await world.patch("json", widgets.path("a"), [
          { op: "replace", path: "/spec/size", value: "l" },
        ]);
        assert.equal(patched.body.spec.size, "l");
      }),
  },
  {
    name: "a patch of a missing object is 404",
    run: async ({ path, patch }) => {
      assert.equal(
        (await patch("merge", path("pods", "none"), { metadata: { labels: { a: "1" } } })).status,
        404,
      );
    },
  },
];
