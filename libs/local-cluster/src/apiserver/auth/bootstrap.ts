import type { KubeObject } from "../../cluster-api.ts";

const apiVersion = "rbac.authorization.k8s.io/v1";

function clusterRole(name: string, rules: unknown[]): KubeObject {
  return { apiVersion, kind: "ClusterRole", metadata: { name }, rules };
}

function clusterBinding(name: string, groups: string[]): KubeObject {
  const subjects = groups.map((group) => ({
    kind: "Group",
    name: group,
    apiGroup: "rbac.authorization.k8s.io",
  }));
  return {
    apiVersion,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects,
  };
}

const publicPaths = ["/healthz", "/livez", "/readyz", "/version", "/version/"];
const discoveryPaths = ["/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*", ...publicPaths];

/** The default cluster roles and bindings that clients rely on. */
export const bootstrapAccess: KubeObject[] = [
  clusterRole("cluster-admin", [
    { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
    { nonResourceURLs: ["*"], verbs: ["*"] },
  ]),
  clusterBinding("cluster-admin", ["system:masters"]),
  clusterRole("system:discovery", [{ nonResourceURLs: discoveryPaths, verbs: ["get"] }]),
  clusterBinding("system:discovery", ["system:authenticated"]),
  clusterRole("system:public-info-viewer", [{ nonResourceURLs: publicPaths, verbs: ["get"] }]),
  clusterBinding("system:public-info-viewer", ["system:authenticated", "system:unauthenticated"]),
  clusterRole("system:basic-user", [
    {
      apiGroups: ["authorization.k8s.io"],
      resources: ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
      verbs: ["create"],
    },
    { apiGroups: ["authentication.k8s.io"], resources: ["selfsubjectreviews"], verbs: ["create"] },
  ]),
  clusterBinding("system:basic-user", ["system:authenticated"]),
];

/** Namespaces that exist from the first start. */
export const bootstrapNamespaces: KubeObject[] = [
  "default",
  "kube-system",
  "kube-public",
  "kube-node-lease",
].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
