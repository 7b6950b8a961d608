import assert from "node:assert/strict";
import { type Case, configMap } from "./test-context.ts";
import { withWidgets } from "./widgets.ts";

/** Watches. */
export const watchingCases: Case[] = [
  {
    name: "a watch without a version starts with the existing objects and continues with the changes",
    run: async ({ expect, path, watch, patch }) => {
      await expect(201, "POST", path("configmaps"), { body: configMap("a", {}, { w: "1" }) });
      const stream = await watch(`${path("configmaps")}?watch=1&labelSelector=w`);
      const first = await stream.next();
      assert.deepEqual(
        [first.type, first.object.kind, first.object.metadata.name],
        ["ADDED", "ConfigMap", "a"],
      );
      await patch("merge", path("configmaps", "a"), { data: { k: "v" } });
      const second = await stream.next();
      assert.deepEqual([second.type, second.object.data], ["MODIFIED", { k: "v" }]);
      const removed = await expect(200, "DELETE", path("configmaps", "a"));
      assert.equal(removed.status, "Success");
      const third = await stream.next();
      assert.equal(third.type, "DELETED");
      assert.ok(
        Number(third.object.metadata.resourceVersion) > Number(second.object.metadata.resourceVersion),
      );
      stream.end();
    },
  },
  {
    name: "a watch from a version replays the changes since then",
    run: async ({ expect, path, watch }) => {
      const start = await expect(201, "POST", path("configmaps"), { body: configMap("a") });
      await expect(201, "POST", path("configmaps"), { body: configMap("b") });
      await expect(200, "DELETE", path("configmaps", "b"));
      const stream = await watch(
        `${path("configmaps")}?watch=1&resourceVersion=${start.metadata.resourceVersion}`,
      );
      const seen = [await stream.until(isNamed("b")), await stream.until(isNamed("b"))];
      assert.deepEqual(
        seen.map((event) => event.type),
        ["ADDED", "DELETED"],
      );
      stream.end();
    },
  },
  {
    name: "a watch with a selector shows objects that start and stop to match as added and deleted",
    run: async ({ expect, path, watch, patch }) => {
      await expect(201, "POST", path("configmaps"), { body: configMap("a", {}, { on: "0" }) });
      const stream = await watch(`${path("configmaps")}?watch=1&labelSelector=on%3D1`);
      await patch("merge", path("configmaps", "a"), { metadata: { labels: { on: "1" } } });
      assert.equal((await stream.next()).type, "ADDED");
      await patch("merge", path("configmaps", "a"), { metadata: { labels: { on: "0" } } });
      const left = await stream.next();
      assert.equal(left.type, "DELETED");
      assert.equal(left.object.metadata.labels.on, "1");
      stream.end();
    },
  },
  {
    name: "a watch from before the history gets one ERROR event with 410 and ends",
    run: (world) =>
      withWidgets(world, async (widgets) => {
        await world.expect(201, "POST", widgets.path(), { body: widgets.make("a") });
        const stream = await world.watch(`${widgets.path()}?watch=1&resourceVersion=1`);
        const event = await stream.next();
        assert.equal(event.type, "ERROR");
        assert.deepEqual(
          [event.object.kind, event.object.code, event.object.reason],
          ["Status", 410, "Expired"],
        );
        assert.match(event.object.message, /too old resource version/);
        assert.equal(await stream.next(), undefined);
        stream.end();
      }),
  },
  {
    name: "a watch ends at its timeout, with a bookmark shortly before if requested",
    run: async ({ expect, path, watch }) => {
      await expect(201, "POST", path("configmaps"), { body: configMap("a", {}, { w: "1" }) });
      const query = "watch=1&labelSelector=w&allowWatchBookmarks=true&timeoutSeconds=3";
      const stream = await watch(`${path("configmaps")}?${query}`);
      assert.equal((await stream.next()).type, "ADDED");
      const mark = await stream.next();
      assert.deepEqual([mark.type, mark.object.kind], ["BOOKMARK", "ConfigMap"]);
      assert.match(mark.object.metadata.resourceVersion, /^\d+$/);
      for (let event = await stream.next(); event !== undefined; event = await stream.next()) {
        assert.equal(event.type, "BOOKMARK");
      }
    },
  },
  {
    name: "a version that the server has not reached is rejected",
    run: async ({ expect, path }) => {
      const refused = await expect(504, "GET", `${path("configmaps")}?resourceVersion=999999999`);
      assert.equal(refused.details.causes[0].reason, "ResourceVersionTooLarge");
    },
  },
];

function isNamed(name: string) {
  return (event: { object: { metadata: { name: string } } }) => event.object.metadata.name === name;
}
