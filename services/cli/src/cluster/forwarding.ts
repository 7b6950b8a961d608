// The secret that proxy and game servers share, where the servers look for it (lifecycle.forwarding_secret_name).

import { connectKube, isKubeError, resources } from "@svc/kube";

const target = { name: "forwarding-secret", namespace: "minecraft" };

/** Puts the secret into the cluster, or takes it out when it is empty; returns what changed. Running servers keep theirs. */
export async function ensureForwardingSecret(kubeconfigFile: string, secret: string): Promise<string[]> {
  const kube = connectKube({ kubeconfigFile });
  const data = { secret: Buffer.from(secret).toString("base64") };
  const changed = [`Secret ${target.name}`];
  try {
    const found = await kube.find(resources.secrets, target);
    if (secret === "") {
      if (found) await kube.remove(resources.secrets, target);
      return found ? changed : [];
    }
    if (found?.data?.["secret"] === data.secret) return [];
    if (found) await kube.patch(resources.secrets, target, { merge: { data } });
    else await create();
    return changed;
  } finally {
    kube.close();
  }

  async function create() {
    try {
      await kube.create(resources.secrets, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: target,
        type: "Opaque",
        data,
      });
    } catch (error) {
      // Another run made it between our look and now: it is the next run's to compare.
      if (!isKubeError(error, 409)) throw error;
    }
  }
}
