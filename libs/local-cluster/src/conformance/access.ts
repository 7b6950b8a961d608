import assert from "node:assert/strict";
import { until } from "@svc/local-stack/testing";
import { type Case, configMap, type TestContext } from "./test-context.ts";

const group = "rbac.authorization.k8s.io/v1";

async function bind({ expect, path }: TestContext, name: string, rules: object[]): Promise<void> {
  await expect(201, "POST", path(`${group}/roles`), { body: { metadata: { name }, rules } });
  const body = {
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
    subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "nobody" }],
  };
  await expect(201, "POST", path(`${group}/rolebindings`), { body });
}

/** Authentication and authorization. */
export const accessCases: Case[] = [
  {
    name: "an unknown token is 401, no token is an anonymous user without permissions",
    run: async ({ expect, path }) => {
      const status = await expect(401, "GET", path("pods"), { token: "wrong" });
      assert.deepEqual([status.reason, status.message], ["Unauthorized", "Unauthorized"]);
      assert.match((await expect(403, "GET", path("pods"), { token: "" })).message, /system:anonymous/);
    },
  },
  {
    name: "a request that no role allows is 403 with the message of Kubernetes",
    run: async ({ expect, path, endpoint, namespace }) => {
      const token = endpoint.nobodyToken;
      const listed = await expect(403, "GET", path("pods"), { token });
      assert.equal(
        listed.message,
        `pods is forbidden: User "nobody" cannot list resource "pods" in API group "" in the namespace "${namespace}"`,
      );
      assert.deepEqual(listed.details, { kind: "pods" });
      const named = await expect(403, "DELETE", path("apps/v1/statefulsets", "x"), { token });
      assert.equal(
        named.message,
        `statefulsets.apps "x" is forbidden: User "nobody" cannot delete resource "statefulsets" in API group "apps" in the namespace "${namespace}"`,
      );
      const wide = await expect(403, "GET", "/api/v1/nodes", { token });
      assert.match(wide.message, /cannot list resource "nodes" in API group "" at the cluster scope$/);
      const path403 = await expect(403, "GET", "/metrics", { token });
      assert.equal(path403.message, 'forbidden: User "nobody" cannot get path "/metrics"');
    },
  },
  {
    name: "a role bound to a user allows its verbs in its namespace, and nothing else",
    run: async (world) => {
      const { expect, path, endpoint } = world;
      const token = endpoint.nobodyToken;
      await bind(world, "reader", [
        { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch"] },
      ]);
      await world.expect(201, "POST", path("configmaps"), { body: configMap("a") });
      // A real server's authorizer learns of a binding by a watch.
      await until(async () => (await world.call("GET", path("configmaps"), { token })).status === 200);
      await expect(200, "GET", path("configmaps", "a"), { token });
      await expect(403, "POST", path("configmaps"), { token, body: configMap("b") });
      await expect(403, "DELETE", path("configmaps", "a"), { token });
      await expect(403, "GET", "/api/v1/namespaces/default/configmaps", { token });
      await expect(403, "GET", path("secrets"), { token });
      await expect(200, "DELETE", path(`${group}/rolebindings`, "reader"));
      await until(async () => (await world.call("GET", path("configmaps"), { token })).status === 403);
    },
  },
  {
    name: "a rule can name single objects and subresources",
    run: async (world) => {
      const { expect, path, endpoint } = world;
      const token = endpoint.nobodyToken;
      await bind(world, "narrow", [
        { apiGroups: [""], resources: ["configmaps"], resourceNames: ["a"], verbs: ["get"] },
        { apiGroups: [""], resources: ["pods/log"], verbs: ["get"] },
      ]);
      await expect(201, "POST", path("configmaps"), { body: configMap("a") });
      await until(async () => (await world.call("GET", path("configmaps", "a"), { token })).status === 200);
      await expect(403, "GET", path("configmaps", "b"), { token });
      await expect(403, "GET", path("configmaps"), { token });
      await expect(404, "GET", path("pods", "none", "log"), { token });
      const refused = await expect(403, "GET", path("pods", "none"), { token });
      assert.match(refused.message, /cannot get resource "pods"/);
    },
  },
  {
    name: "a user can query its own permissions",
    run: async ({ expect, endpoint, namespace }) => {
      const ask = (token: string) =>
        expect(201, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
          token,
          body: { spec: { resourceAttributes: { verb: "list", resource: "pods", namespace } } },
        });
      assert.equal((await ask(endpoint.adminToken)).status.allowed, true);
      assert.equal((await ask(endpoint.nobodyToken)).status.allowed, false);
    },
  },
  {
    name: "the role of a binding is immutable",
    run: async (world) => {
      await bind(world, "fixed", [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }]);
      const changed = { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "other" } };
      assert.equal(
        (await world.patch("merge", world.path(`${group}/rolebindings`, "fixed"), changed)).status,
        422,
      );
    },
  },
];
