/** Names of the embedded parts that run; services wait for all of them. */
export type EmbeddedPart = "postgres" | "nats" | "local-cluster" | "mail-sink";

/** Which parts this stack brings itself; the others are given by the person's environment. */
export function embeddedParts(env: NodeJS.ProcessEnv): EmbeddedPart[] {
  return [
    ...(env["SVC_DATABASE_URL"] ? [] : (["postgres"] as const)),
    ...(env["SVC_NATS_URL"] ? [] : (["nats"] as const)),
    ...(env["SVC_KUBECONFIG"] ? [] : (["local-cluster"] as const)),
    "mail-sink",
  ];
}
