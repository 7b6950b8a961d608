/** The server of a kubeconfig: the base URL and, for an HTTPS URL, the certificate to trust (PEM). */
export type KubeconfigServer = { url: string; certificate?: string };

/** The text of a kubeconfig file for one user of this cluster; JSON, which is valid YAML. */
export function kubeconfigOf(server: KubeconfigServer, user: { name: string; token: string }): string {
  const { url, certificate } = server;
  const trust =
    certificate === undefined
      ? {}
      : { "certificate-authority-data": Buffer.from(certificate).toString("base64") };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "local", cluster: { server: url, ...trust } }],
    users: [{ name: user.name, user: { token: user.token } }],
    contexts: [{ name: "local", context: { cluster: "local", user: user.name, namespace: "default" } }],
    "current-context": "local",
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
