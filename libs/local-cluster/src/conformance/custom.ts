import assert from "node:assert/strict";
import { type Case, causesOf } from "./test-context.ts";
import { withWidgets } from "./widgets.ts";

/** Custom resources. */
export const customCases: Case[] = [
  {
    name: "a custom resource is pruned to its schema and gets its defaults",
    run: (world) =>
      withWidgets(world, async (widgets) => {
        const spec = { junk: 1, free: { any: { thing: [1] } }, labels: { a: "b" }, port: "http", note: null };
        const body = { ...widgets.make("a", spec), junk: true, status: { phase: "Forged" } };
        const made = await world.expect(201, "POST", widgets.path(), { body });
        const kept = { free: { any: { thing: [1] } }, labels: { a: "b" }, port: "http", note: null };
        assert.deepEqual(made.spec, { size: "s", replicas: 1, ...kept });
        assert.deepEqual([made.junk, made.status, made.metadata.generation], [undefined, undefined, 1]);
      }),
  },
  {
    name: "a custom resource that breaks its schema is 422 with a cause for each field",
    run: (world) =>
      withWidgets(world, async (widgets) => {
        const refuse = async (spec: object) =>
          causesOf(await world.expect(422, "POST", widgets.path(), { body: widgets.make("a", spec) })).sort();
        assert.deepEqual(await refuse({ size: "xl" }), ["spec.size FieldValueNotSupported"]);
        assert.deepEqual(await refuse({ size: undefined }), ["spec.size FieldValueRequired"]);
        assert.deepEqual(await refuse({ replicas: -1 }), ["spec.replicas FieldValueInvalid"]);
        assert.deepEqual(await refuse({ replicas: "2" }), ["spec.replicas FieldValueInvalid"]);
        assert.deepEqual(await refuse({ replicas: 1.5 }), ["spec.replicas FieldValueInvalid"]);
        assert.deepEqual(await refuse({ port: true }), ["spec.port FieldValueInvalid"]);
        assert.deepEqual(await refuse({ code: "UP" }), ["spec.code FieldValueInvalid"]);
        assert.deepEqual(await refuse({ parts: [{ name: "a" }, { name: "a" }] }), [
          "spec.parts[1] FieldValueDuplicate",
        ]);
        const two = await refuse({ replicas: -1, code: "UP" });
        assert.deepEqual(two, ["spec.code FieldValueInvalid", "spec.replicas FieldValueInvalid"]);
      }),
  },
  {
    name: "spec and status of a custom resource are written only through their own paths",
    run: (world) =>
      withWidgets(world, async (widgets) => {
        await world.expect(201, "POST", widgets.path(), { body: widgets.make("a") });
        const status = { phase: "Ready", unknown: 1 };
        const answer = await world.patch("merge", widgets.path("a", "status"), {
          spec: { size: "l" },
          status,
          metadata: { labels: { a: "b" } },
        });
        assert.equal(answer.status, 200);
        const after = await world.expect(200, "GET", widgets.path("a"));
        assert.deepEqual(
          [after.spec.size, after.status, after.metadata.labels],
          ["s", { phase: "Ready" }, undefined],
        );
        const forged = { ...after, spec: { ...after.spec, size: "m" }, status: { phase: "Forged" } };
        const updated = await world.expect(200, "PUT", widgets.path("a"), { body: forged });
        assert.deepEqual([updated.spec.size, updated.status], ["m", { phase: "Ready" }]);
        const bad = await world.patch("merge", widgets.path("a", "status"), { status: { replicas: "x" } });
        assert.equal(bad.status, 422);
      }),
  },
  {
    name: "the generation counts changes of the spec, not of status and metadata",
    run: (world) =>
      withWidgets(world, async (widgets) => {
        await world.expect(201, "POST", widgets.path(), { body: widgets.make("a") });
        const generation = async (path: string, body: object) =>
          (await world.patch("merge", path, body)).body.metadata.generation;
        assert.equal(await generation(widgets.path("a"), { metadata: { labels: { a: "b" } } }), 1);
        assert.equal(await generation(widgets.path("a", "status"), { status: { phase: "X" } }), 1);
        assert.equal(await generation(widgets.path("a"), { spec: { size: "m" } }), 2);
        assert.equal(await generation(widgets.path("a"), { spec: { size: "m" } }), 2);
      }),
  },
  {
    name: "the scale subresource reads and writes the replicas",
    run: (world) =>
      withWidgets(world, async (widgets) => {
        await world.expect(201, "POST", widgets.path(), { body: widgets.make("a", { replicas: 2 }) });
        await world.patch("merge", widgets.path("a", "status"), {
          status: { replicas: 1, selector: "app=a" },
        });
        const scale = await world.expect(200, "GET", widgets.path("a", "scale"));
        assert.deepEqual(
          [scale.kind, scale.apiVersion, scale.spec],
          ["Scale", "autoscaling/v1", { replicas: 2 }],
        );
        assert.deepEqual(scale.status, { replicas: 1, selector: "app=a" });
        await world.expect(200, "PUT", widgets.path("a", "scale"), {
          body: { ...scale, spec: { replicas: 5 } },
        });
        const patched = await world.patch("merge", widgets.path("a", "scale"), { spec: { replicas: 4 } });
        assert.deepEqual(patched.body.spec, { replicas: 4 });
        const after = await world.expect(200, "GET", widgets.path("a"));
        assert.deepEqual([after.spec.replicas, after.metadata.generation], [4, 3]);
        await world.expect(409, "PUT", widgets.path("a", "scale"), {
          body: { ...scale, spec: { replicas: 6 } },
        });
      }),
  },
  {
    name: "an update of a custom resource requires a resourceVersion",
    run: (world) =>
      withWidgets(world, async (widgets) => {
        await world.expect(201, "POST", widgets.path(), { body: widgets.make("a") });
        const blind = await world.expect(422, "PUT", widgets.path("a"), {
          body: widgets.make("a", { size: "m" }),
        });
        assert.deepEqual(causesOf(blind), ["metadata.resourceVersion FieldValueInvalid"]);
      }),
  },
  {
    name: "items of a custom list have their kind, and discovery lists the new group",
    run: (world) =>
      withWidgets(world, async (widgets) => {
        await world.expect(201, "POST", widgets.path(), { body: widgets.make("a") });
        const list = await world.expect(200, "GET", widgets.path());
        assert.deepEqual([list.kind, list.items[0].kind], ["WidgetList", "Widget"]);
        const found = await world.expect(200, "GET", widgets.path().replace(/\/namespaces.*/, ""));
        const names = found.resources.map((resource: { name: string }) => resource.name);
        assert.deepEqual(names.sort(), ["widgets", "widgets/scale", "widgets/status"]);
      }),
  },
  {
    name: "deleting a definition deletes its objects",
    run: (world) =>
      withWidgets(world, async (widgets) => {
        await world.expect(201, "POST", widgets.path(), { body: widgets.make("a") });
        await world.expect(200, "DELETE", widgets.crd);
        await world.eventually(widgets.crd, ({ status }) => status === 404);
        await world.eventually(widgets.path(), ({ status }) => status === 404);
      }),
  },
  {
    name: "a definition whose name is not plural.group, or without a schema, is 422",
    run: async ({ expect, namespace }) => {
      const group = `${namespace}.example.svc`;
      const spec = {
        group,
        scope: "Namespaced",
        names: { plural: "gadgets", kind: "Gadget" },
        versions: [
          { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } },
        ],
      };
      const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
      const named = await expect(422, "POST", path, { body: { metadata: { name: `x.${group}` }, spec } });
      assert.ok(causesOf(named).includes("metadata.name FieldValueInvalid"));
      const bare = { ...spec, versions: [{ name: "v1", served: true, storage: true }] };
      assert.equal(
        (await expect(422, "POST", path, { body: { metadata: { name: `gadgets.${group}` }, spec: bare } }))
          .reason,
        "Invalid",
      );
    },
  },
];
