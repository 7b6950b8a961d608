import assert from "node:assert/strict";
import type { Json } from "./client.ts";
import { type Case, causesOf, configMap, type TestContext } from "./test-context.ts";

function owned(name: string, owner: Json, extra: object = {}): Json {
  const { uid } = owner.metadata;
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: owner.metadata.name, uid, ...extra }];
  return { ...configMap(name), metadata: { name, ownerReferences } };
}

async function ownerWithChild({ expect, path }: TestContext, extra: object = {}): Promise<Json> {
  const owner = await expect(201, "POST", path("configmaps"), { body: configMap("owner") });
  await expect(201, "POST", path("configmaps"), { body: owned("child", owner, extra) });
  return owner;
}

/** A real collector sees objects in order: once it has collected one, it knows those created before. */
async function collectorHasCaughtUp({ expect, path, eventually }: TestContext): Promise<void> {
  const late = await expect(201, "POST", path("configmaps"), { body: configMap("late") });
  await expect(201, "POST", path("configmaps"), { body: owned("late-child", late) });
  await expect(200, "DELETE", `${path("configmaps", "late")}?propagationPolicy=Background`);
  await eventually(path("configmaps", "late-child"), isGone);
}

const isGone = ({ status }: { status: number }) => status === 404;

/** Finalizers, garbage collection, namespaces. */
export const lifecycleCases: Case[] = [
  {
    name: "a finalizer keeps a deleted object until it is removed, and none can be added by then",
    run: async ({ expect, path, patch }) => {
      const body: Json = configMap("a");
      body.metadata.finalizers = ["example.svc/hold"];
      await expect(201, "POST", path("configmaps"), { body });
      const marked = await expect(200, "DELETE", path("configmaps", "a"));
      assert.ok(marked.metadata.deletionTimestamp);
      await expect(200, "DELETE", path("configmaps", "a"));
      const more = await patch("merge", path("configmaps", "a"), {
        metadata: { finalizers: ["example.svc/hold", "example.svc/more"] },
      });
      assert.deepEqual(
        [more.status, causesOf(more.body)],
        [422, ["metadata.finalizers FieldValueForbidden"]],
      );
      assert.equal(
        (await patch("merge", path("configmaps", "a"), { metadata: { finalizers: null } })).status,
        200,
      );
      await expect(404, "GET", path("configmaps", "a"));
    },
  },
  {
    name: "dependents of a deleted owner are collected in the background",
    controllers: true,
    run: async (world) => {
      await ownerWithChild(world);
      await world.expect(200, "DELETE", `${world.path("configmaps", "owner")}?propagationPolicy=Background`);
      await world.expect(404, "GET", world.path("configmaps", "owner"));
      await world.eventually(world.path("configmaps", "child"), isGone);
    },
  },
  {
    name: "a foreground delete of an owner waits for the dependents that block it",
    controllers: true,
    run: async (world) => {
      const owner = await world.expect(201, "POST", world.path("configmaps"), { body: configMap("owner") });
      const body = owned("child", owner, { blockOwnerDeletion: true });
      body.metadata.finalizers = ["example.svc/hold"];
      await world.expect(201, "POST", world.path("configmaps"), { body });
      await world.expect(200, "DELETE", `${world.path("configmaps", "owner")}?propagationPolicy=Foreground`);
      const child = world.path("configmaps", "child");
      await world.eventually(child, (answer) => answer.body.metadata?.deletionTimestamp !== undefined);
      const waiting = await world.expect(200, "GET", world.path("configmaps", "owner"));
      assert.deepEqual(waiting.metadata.finalizers, ["foregroundDeletion"]);
      await world.patch("merge", child, { metadata: { finalizers: null } });
      await world.eventually(world.path("configmaps", "owner"), isGone);
    },
  },
  {
    name: "an orphaned dependent is kept and loses its owner reference",
    controllers: true,
    run: async (world) => {
      await ownerWithChild(world);
      await collectorHasCaughtUp(world);
      const body = { propagationPolicy: "Orphan" };
      await world.expect(200, "DELETE", world.path("configmaps", "owner"), { body });
      await world.eventually(world.path("configmaps", "owner"), isGone);
      const child = await world.expect(200, "GET", world.path("configmaps", "child"));
      assert.equal(child.metadata.ownerReferences, undefined);
    },
  },
  {
    name: "a dependent with two owners is kept when the first is deleted",
    controllers: true,
    run: async (world) => {
      const { expect, path } = world;
      const one = await expect(201, "POST", path("configmaps"), { body: configMap("one") });
      const two = await expect(201, "POST", path("configmaps"), { body: configMap("two") });
      const body = owned("child", one);
      body.metadata.ownerReferences.push(...owned("child", two).metadata.ownerReferences);
      await expect(201, "POST", path("configmaps"), { body });
      await expect(200, "DELETE", path("configmaps", "one"));
      const child = await world.eventually(
        path("configmaps", "child"),
        (answer) => answer.body.metadata?.ownerReferences?.length === 1,
      );
      assert.equal(child.metadata.ownerReferences[0].name, "two");
      await expect(200, "DELETE", path("configmaps", "two"));
      await world.eventually(path("configmaps", "child"), isGone);
    },
  },
  {
    name: "a deleted namespace rejects new objects, loses its content and is removed",
    controllers: true,
    run: async ({ expect, path, namespace, patch, eventually }) => {
      const body: Json = configMap("held");
      body.metadata.finalizers = ["example.svc/hold"];
      await expect(201, "POST", path("configmaps"), { body });
      const leaving = await expect(200, "DELETE", `/api/v1/namespaces/${namespace}`);
      assert.ok(leaving.metadata.deletionTimestamp);
      const refused = await expect(403, "POST", path("configmaps"), { body: configMap("late") });
      assert.equal(refused.details.causes[0].reason, "NamespaceTerminating");
      const seen = await expect(200, "GET", `/api/v1/namespaces/${namespace}`);
      assert.equal(seen.status.phase, "Terminating");
      await eventually(
        path("configmaps", "held"),
        (answer) => answer.body.metadata?.deletionTimestamp !== undefined,
      );
      await patch("merge", path("configmaps", "held"), { metadata: { finalizers: null } });
      await eventually(`/api/v1/namespaces/${namespace}`, isGone, 30_000);
    },
  },
];
