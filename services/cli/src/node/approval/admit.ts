// The two writes of an approval. The label comes first: a run that ends between them leaves the taint, and is repeated.

import { isKubeError, type Kube, type Node, resources } from "@svc/kube";
import { joinTaint, nodeLabels } from "@svc/proto/node-labels";
import { CommandError } from "../../output.ts";

const attempts = 5;

/** Only the very node that was probed is approved: another one under its name is a `CommandError`. */
export async function admit(kube: Kube, probed: Node): Promise<void> {
  const { name, uid } = probed.metadata;
  const labels = {
    [nodeLabels.identity]: probed.metadata.labels?.[nodeLabels.identity] ?? name,
    [nodeLabels.role]: "worker",
    [nodeLabels.approved]: "true",
  };
  await kube
    .patch(resources.nodes, { name }, { merge: { metadata: { uid, labels } } })
    .catch((error: unknown) => {
      // Another uid is a conflict or, to some API servers, an invalid change of an immutable field.
      const isOther = isKubeError(error, 422) && (error as Error).message.includes("metadata.uid");
      if (isOther || isKubeError(error, 409)) throw replaced(name);
      throw error;
    });
  for (let left = attempts; ; left--) {
    const node = await kube.get(resources.nodes, { name });
    if (node.metadata.uid !== uid) throw replaced(name);
    const taints = node.spec?.taints ?? [];
    const others = taints.filter(({ key }) => key !== joinTaint.key);
    if (others.length === taints.length) return;
    try {
      // Other controllers taint nodes, too: theirs stay.
      const json = [
        { op: "test", path: "/metadata/uid", value: uid },
        { op: "test", path: "/spec/taints", value: taints },
        { op: "replace", path: "/spec/taints", value: others },
      ] as const;
      await kube.patch(resources.nodes, { name }, { json });
      return;
    } catch (error) {
      if (!isKubeError(error, 422) || left === 1) throw error;
    }
  }
}

const replaced = (name: string) =>
  new CommandError(`node ${name} was replaced while it was probed; run svc node approve ${name} again`);
