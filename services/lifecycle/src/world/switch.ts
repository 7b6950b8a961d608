import { isKubeError } from "@svc/kube";
import type { Handler } from "@svc/mesh";
import type { InputOf } from "@svc/proto";
import { annotation, servers as resource, type Server } from "../cluster/resource.ts";
import { type contracts, findFresh, type WorldDeps } from "./deps.ts";
import { isAtRest } from "./world-server.ts";

const conflictTries = 20;

/** lifecycle.world.switch: one optimistic write, so a server is never half moved. The next start recreates its StatefulSet. */
export const switchWorld =
  (deps: WorldDeps): Handler<typeof contracts.switchWorld> =>
  async (context, wanted) => {
    for (let left = conflictTries; ; left--) {
      const { server, hasPod = false } = (await findFresh(deps, wanted.name)) ?? {};
      if (!server) throw context.fault("not_found", { message: `There is no server ${wanted.name}.` });
      const holds = server.metadata.annotations?.[annotation.maintenance];
      // A repeat: somebody may have locked or started it since.
      if (holds !== wanted.lock && isSwitched(server, wanted)) return null;
      if (holds !== wanted.lock) throw context.fault("maintenance_in_progress");
      if (!isAtRest(server, hasPod)) throw context.fault("not_stopped");
      try {
        await write(deps, server, wanted);
        return null;
      } catch (error) {
        if (!isKubeError(error, 409) || left === 0) throw error;
      }
    }
  };

type Wanted = InputOf<typeof contracts.switchWorld>;

function isSwitched({ spec }: Server, { node_name, volume_claim }: Wanted): boolean {
  return spec.nodeName === node_name && spec.storage?.claimName === volume_claim;
}

async function write({ kube, namespace, servers }: WorldDeps, server: Server, wanted: Wanted): Promise<void> {
  const { name, resourceVersion } = server.metadata;
  const merge = {
    metadata: { resourceVersion, annotations: { [annotation.maintenance]: null } },
    spec: { nodeName: wanted.node_name, storage: { claimName: wanted.volume_claim } },
  };
  servers.remember(await kube.patch(resource, { name, namespace }, { merge }));
}
