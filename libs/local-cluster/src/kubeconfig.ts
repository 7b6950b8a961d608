import { stringify } from "yaml";

/** A kubeconfig file for one user of this cluster. `namespace` is the default of its context. */
export function kubeconfigOf(
  server: string,
  user: { name: string; token: string },
  namespace = "default",
): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "local", cluster: { server } }],
    users: [{ name: user.name, user: { token: user.token } }],
    contexts: [{ name: "local", context: { cluster: "local", user: user.name, namespace } }],
    "current-context": "local",
  });
}
