/** A part that the stack can run itself; services wait for all of them. */
export type EmbeddedPart = "postgres" | "nats" | "local-cluster" | "mail-sink";

/** The parts that this stack runs itself; the environment names the others. */
export function embeddedParts(env: NodeJS.ProcessEnv): EmbeddedPart[] {
  return [
    ...(env["SVC_DATABASE_URL"] ? [] : (["postgres"] as const)),
    ...(env["SVC_NATS_URL"] ? [] : (["nats"] as const)),
    ...(env["SVC_KUBECONFIG"] ? [] : (["local-cluster"] as const)),
    "mail-sink",
  ];
}
