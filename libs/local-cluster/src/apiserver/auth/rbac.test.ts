import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { openStore } from "../store/store.ts";
import { type Attributes, createAuthorizer, refusalText } from "./rbac.ts";

const rbac = "rbac.authorization.k8s.io";
const store = openStore(":memory:");
const authorizer = createAuthorizer(store);
after(() => {
  authorizer.close();
  store.close();
});

const putRole = (kind: "Role" | "ClusterRole", name: string, ...rules: Record<string, string[]>[]) => {
  const namespace = kind === "Role" ? { namespace: "games" } : {};
  const role = { apiVersion: `${rbac}/v1`, kind, metadata: { name, ...namespace }, rules };
  store.put(`${rbac}/${kind === "Role" ? "roles" : "clusterroles"}`, role);
};
const bind = (kind: "RoleBinding" | "ClusterRoleBinding", role: string, subject: Record<string, string>) => {
  const isLocal = kind === "RoleBinding";
  const roleRef = { kind: role.startsWith("Cluster") ? "ClusterRole" : "Role", name: role.split(":")[1] };
  const metadata = { name: `${role}-${subject["name"]}`, ...(isLocal && { namespace: "games" }) };
  const binding = { apiVersion: `${rbac}/v1`, kind, metadata, roleRef, subjects: [subject] };
  store.put(`${rbac}/${isLocal ? "rolebindings" : "clusterrolebindings"}`, binding);
};
const reader = { verbs: ["get", "list"], apiGroups: [""], resources: ["pods", "pods/log"] };

putRole("Role", "reader", reader);
putRole("Role", "one-secret", {
  ...{ verbs: ["get"], apiGroups: [""], resources: ["secrets"], resourceNames: ["own"] },
});
putRole("ClusterRole", "scaler", { verbs: ["*"], apiGroups: ["apps"], resources: ["*/scale"] });
putRole("ClusterRole", "health", { verbs: ["get"], nonResourceURLs: ["/healthz", "/metrics/*"] });
bind("RoleBinding", "Role:reader", { kind: "ServiceAccount", name: "lifecycle" });
bind("RoleBinding", "Role:one-secret", { kind: "User", name: "ada" });
bind("RoleBinding", "ClusterRole:scaler", { kind: "Group", name: "scalers" });
bind("ClusterRoleBinding", "ClusterRole:health", { kind: "Group", name: "system:authenticated" });

const lifecycle = { name: "system:serviceaccount:games:lifecycle", groups: ["system:authenticated"] };
const ada = { name: "ada", groups: ["scalers"] };
const pods = { verb: "get", resource: "pods", namespace: "games" };

const cases: [fact: string, user: typeof ada, wanted: Attributes, isAllowed: boolean][] = [
  ["a role grants its verbs on its resources", lifecycle, pods, true],
  ["not another verb", lifecycle, { ...pods, verb: "delete" }, false],
  ["not in another namespace", lifecycle, { ...pods, namespace: "other" }, false],
  ["not for all namespaces at once", lifecycle, { verb: "list", resource: "pods" }, false],
  ["a subresource has to be named", lifecycle, { ...pods, subresource: "exec" }, false],
  ["and is granted when it is", lifecycle, { ...pods, subresource: "log" }, true],
  ["not the same resource of another group", lifecycle, { ...pods, group: "metrics.k8s.io" }, false],
  [
    "a service account of another namespace is somebody else",
    { ...lifecycle, name: "system:serviceaccount:other:lifecycle" },
    pods,
    false,
  ],
  [
    "a rule with names covers those",
    ada,
    { verb: "get", resource: "secrets", namespace: "games", name: "own" },
    true,
  ],
  [
    "and no other object",
    ada,
    { verb: "get", resource: "secrets", namespace: "games", name: "other" },
    false,
  ],
  ["nor a list", ada, { verb: "get", resource: "secrets", namespace: "games" }, false],
  [
    "*/scale covers that subresource of any kind",
    ada,
    { verb: "update", group: "apps", resource: "statefulsets", subresource: "scale", namespace: "games" },
    true,
  ],
  [
    "but not the object itself",
    ada,
    { verb: "update", group: "apps", resource: "statefulsets", namespace: "games" },
    false,
  ],
  [
    "a cluster role that is bound in a namespace holds there alone",
    ada,
    { verb: "update", group: "apps", resource: "statefulsets", subresource: "scale", namespace: "other" },
    false,
  ],
  ["a path is granted as it is written", lifecycle, { verb: "get", path: "/healthz" }, true],
  ["a path with a star by its beginning", lifecycle, { verb: "get", path: "/metrics/slis" }, true],
  ["and no other path", lifecycle, { verb: "get", path: "/healthz/etcd" }, false],
  [
    "who is in system:masters may do anything",
    { name: "root", groups: ["system:masters"] },
    { verb: "delete", resource: "namespaces" },
    true,
  ],
];

describe("the authorizer", () => {
  for (const [fact, user, wanted, isAllowed] of cases)
    test(fact, () => assert.equal(authorizer.allows(user, wanted), isAllowed));

  test("sees a role that has changed", () => {
    const wanted = { ...pods, verb: "delete" };
    putRole("Role", "reader", { ...reader, verbs: ["delete"] });
    assert.equal(authorizer.allows(lifecycle, wanted), true);
    assert.equal(authorizer.allows(lifecycle, pods), false);
    putRole("Role", "reader", reader);
  });

  test("grants nothing by a binding whose role is missing", () => {
    bind("RoleBinding", "Role:gone", { kind: "User", name: "bob" });
    assert.equal(authorizer.allows({ name: "bob", groups: [] }, pods), false);
  });
});

test("a refusal names user, verb, resource, group and scope as Kubernetes does", () => {
  assert.equal(
    refusalText(ada, { verb: "get", resource: "pods", subresource: "log", name: "p", namespace: "games" }),
    'pods "p" is forbidden: User "ada" cannot get resource "pods/log" in API group "" in the namespace "games"',
  );
  assert.equal(
    refusalText(ada, { verb: "list", group: "apps", resource: "deployments" }),
    'deployments.apps is forbidden: User "ada" cannot list resource "deployments" in API group "apps" at the cluster scope',
  );
  assert.equal(refusalText(ada, { verb: "get", path: "/x" }), 'forbidden: User "ada" cannot get path "/x"');
});
