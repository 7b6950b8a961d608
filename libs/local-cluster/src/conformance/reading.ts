import assert from "node:assert/strict";
import { type Case, configMap, namesOf, pod } from "./test-context.ts";

/** Discovery, lists and selectors. */
export const readingCases: Case[] = [
  {
    name: "discovery lists groups, versions, resources and their short names",
    run: async ({ expect }) => {
      const core = await expect(200, "GET", "/api/v1");
      const pods = core.resources.find((resource: { name: string }) => resource.name === "pods");
      assert.deepEqual([core.groupVersion, pods.kind, pods.namespaced], ["v1", "Pod", true]);
      assert.deepEqual(pods.shortNames, ["po"]);
      assert.ok(core.resources.some((resource: { name: string }) => resource.name === "pods/status"));
      const groups = await expect(200, "GET", "/apis");
      const names = groups.groups.map((group: { name: string }) => group.name);
      for (const name of ["apps", "batch", "coordination.k8s.io", "rbac.authorization.k8s.io"]) {
        assert.ok(names.includes(name), name);
      }
      const apps = await expect(200, "GET", "/apis/apps/v1");
      const scale = apps.resources.find(
        (resource: { name: string }) => resource.name === "statefulsets/scale",
      );
      assert.deepEqual([scale.kind, scale.group, scale.version], ["Scale", "autoscaling", "v1"]);
      assert.equal((await expect(200, "GET", "/apis/apps")).preferredVersion.groupVersion, "apps/v1");
      assert.equal(await expect(200, "GET", "/readyz"), "ok");
      assert.ok((await expect(200, "GET", "/version")).gitVersion);
    },
  },
  {
    name: "an unknown path is 404 and an unsupported method 405",
    run: async ({ expect, path }) => {
      const missing = await expect(404, "GET", path("nopes"));
      assert.deepEqual([missing.kind, missing.status, missing.reason], ["Status", "Failure", "NotFound"]);
      assert.equal((await expect(405, "PATCH", path("configmaps"), { body: {} })).reason, "MethodNotAllowed");
      const gone = await expect(404, "GET", path("configmaps", "none"));
      assert.equal(gone.message, 'configmaps "none" not found');
      assert.deepEqual(gone.details, { name: "none", kind: "configmaps" });
    },
  },
  {
    name: "a list is sorted by name and has a version",
    run: async ({ expect, path }) => {
      for (const name of ["b", "c", "a"]) await expect(201, "POST", path("pods"), { body: pod(name) });
      const list = await expect(200, "GET", path("pods"));
      assert.deepEqual([list.kind, list.apiVersion], ["PodList", "v1"]);
      assert.deepEqual(namesOf(list), ["a", "b", "c"]);
      assert.match(list.metadata.resourceVersion, /^\d+$/);
      assert.equal(list.items[0].kind, undefined);
    },
  },
  {
    name: "pages are linked by continue tokens and show the state at the first page",
    run: async ({ expect, path }) => {
      for (const name of ["a", "b", "c", "d", "e"])
        await expect(201, "POST", path("secrets"), { body: secret(name) });
      const query = "labelSelector=page%3Dyes&limit=2";
      const first = await expect(200, "GET", `${path("secrets")}?${query}`);
      assert.deepEqual(namesOf(first), ["a", "b"]);
      await expect(200, "DELETE", path("secrets", "d"));
      await expect(201, "POST", path("secrets"), { body: secret("cc") });
      const next = `${path("secrets")}?${query}&continue=${encodeURIComponent(first.metadata.continue)}`;
      const second = await expect(200, "GET", next);
      assert.deepEqual(namesOf(second), ["c", "d"]);
      assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion);
      const last = await expect(
        200,
        "GET",
        `${path("secrets")}?${query}&continue=${encodeURIComponent(second.metadata.continue)}`,
      );
      assert.deepEqual(namesOf(last), ["e"]);
      assert.equal(last.metadata.continue, undefined);
      assert.equal((await expect(400, "GET", `${path("secrets")}?continue=abc`)).reason, "BadRequest");
    },
  },
  {
    name: "a page without a selector has the number of remaining items",
    run: async ({ expect, path }) => {
      for (const name of ["a", "b", "c"]) await expect(201, "POST", path("pods"), { body: pod(name) });
      const page = await expect(200, "GET", `${path("pods")}?limit=1`);
      assert.equal(page.metadata.remainingItemCount, 2);
    },
  },
  {
    name: "label selectors support equality, sets, existence and absence",
    run: async ({ expect, path }) => {
      const labels = { a: { tier: "x" }, b: { tier: "y", old: "1" }, c: {} };
      for (const [name, own] of Object.entries(labels)) {
        await expect(201, "POST", path("configmaps"), { body: configMap(name, {}, { mine: "1", ...own }) });
      }
      const select = async (selector: string) =>
        namesOf(
          await expect(
            200,
            "GET",
            `${path("configmaps")}?labelSelector=${encodeURIComponent(`mine,${selector}`)}`,
          ),
        );
      assert.deepEqual(await select("tier=x"), ["a"]);
      assert.deepEqual(await select("tier==y"), ["b"]);
      assert.deepEqual(await select("tier!=x"), ["b", "c"]);
      assert.deepEqual(await select("tier in (x, y)"), ["a", "b"]);
      assert.deepEqual(await select("tier notin (x)"), ["b", "c"]);
      assert.deepEqual(await select("!old"), ["a", "c"]);
      assert.deepEqual(await select("old"), ["b"]);
      const bad = await expect(
        400,
        "GET",
        `${path("configmaps")}?labelSelector=${encodeURIComponent("a in (")}`,
      );
      assert.equal(bad.reason, "BadRequest");
    },
  },
  {
    name: "field selectors select by name and phase, and a field that the kind does not support is rejected",
    run: async ({ expect, path, patch }) => {
      for (const name of ["a", "b"]) await expect(201, "POST", path("pods"), { body: pod(name) });
      await patch("merge", path("pods", "b", "status"), { status: { phase: "Running" } });
      const select = async (selector: string) =>
        namesOf(await expect(200, "GET", `${path("pods")}?fieldSelector=${encodeURIComponent(selector)}`));
      assert.deepEqual(await select("metadata.name=a"), ["a"]);
      assert.deepEqual(await select("status.phase=Running"), ["b"]);
      assert.deepEqual(await select("status.phase!=Running,metadata.name=b"), []);
      const bad = await expect(400, "GET", `${path("pods")}?fieldSelector=spec.foo%3D1`);
      assert.match(bad.message, /spec\.foo/);
    },
  },
];

function secret(name: string) {
  return { apiVersion: "v1", kind: "Secret", metadata: { name, labels: { page: "yes" } } };
}
