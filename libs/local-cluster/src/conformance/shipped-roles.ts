import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { until } from "@svc/local-stack/testing";
import { parseAllDocuments } from "yaml";
import type { Case, TestContext } from "./test-context.ts";

const file = resolve(import.meta.dirname, "../../../../deploy/kubernetes/base/roles.yaml");
const group = "rbac.authorization.k8s.io/v1";

type Manifest = { kind: string; metadata: { name: string }; rules?: object[] };

/** Rules of the Role of lifecycle as we ship it. */
function shippedRules(): object[] {
  const manifests = parseAllDocuments(readFileSync(file, "utf8")).map(
    (document) => document.toJS() as Manifest,
  );
  const role = manifests.find(({ kind, metadata }) => kind === "Role" && metadata.name === "svc-lifecycle");
  assert.ok(role?.rules, `${file} has no Role of lifecycle`);
  return role.rules;
}

async function bindShippedRole({ expect, path, call, endpoint }: TestContext): Promise<void> {
  const metadata = { name: "svc-lifecycle" };
  await expect(201, "POST", path(`${group}/roles`), { body: { metadata, rules: shippedRules() } });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "svc-lifecycle" };
  const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "nobody" }];
  await expect(201, "POST", path(`${group}/rolebindings`), { body: { metadata, roleRef, subjects } });
  // A real server's authorizer learns of a binding by a watch.
  const isAllowed = async () =>
    (await call("GET", path("pods"), { token: endpoint.nobodyToken })).status === 200;
  await until(isAllowed, 10_000, "the binding to take effect");
}

type Attempt = [status: number, method: string, resource: string, name?: string];

// 404: allowed, but no such object; 403: the Role must not allow it.
const attempts: Attempt[] = [
  [200, "GET", "pods"],
  [200, "GET", "apps/v1/statefulsets"],
  [200, "GET", "services"],
  [200, "GET", "batch/v1/jobs"],
  [404, "GET", "secrets", "survival-rcon"],
  [404, "DELETE", "pods", "survival-0"],
  [404, "GET", "coordination.k8s.io/v1/leases", "lifecycle-reconciler"],
  [403, "GET", "secrets"],
  [403, "DELETE", "secrets", "survival-rcon"],
  [403, "DELETE", "persistentvolumeclaims", "world-survival-0"],
  [403, "GET", "configmaps"],
  [403, "DELETE", "batch/v1/jobs", "backup-survival"],
  [403, "GET", `${group}/roles`],
];

/** The Role of lifecycle allows what lifecycle does and nothing that could lose a world. */
export const shippedRoleCases: Case[] = [
  {
    name: "the shipped Role of lifecycle allows its own work, but no access to worlds and other secrets",
    run: async (world) => {
      await bindShippedRole(world);
      for (const [status, method, resource, name = ""] of attempts) {
        await world.expect(status, method, name ? world.path(resource, name) : world.path(resource), {
          token: world.endpoint.nobodyToken,
        });
      }
    },
  },
];
