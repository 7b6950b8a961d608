import { isKubeError } from "@svc/kube";
import type { Handler } from "@svc/mesh";
import { servers as resource } from "../cluster/resource.ts";
import type { contracts, WorldDeps } from "./deps.ts";

export const releaseWorld =
  (deps: WorldDeps): Handler<typeof contracts.releaseWorld> =>
  async (_context, { name, outcome, owner_id }) => ({
    done: await deps.worlds.release({ name, outcome, ownerId: owner_id }, () => removeObject(deps, name)),
  });

// Objects created for the server are deleted with it; the volume is not one of them (docs/reference/server-resource.md#objects).
async function removeObject({ kube, namespace }: WorldDeps, name: string): Promise<void> {
  await kube
    .remove(resource, { name, namespace }, { propagationPolicy: "Background" })
    .catch((error: unknown) => {
      if (!isKubeError(error, 404)) throw error;
    });
}
