// A stub of lifecycle that describes servers by the objects in the cluster.

import { isKubeError, type Kube } from "@svc/kube";
import type { Mesh } from "@svc/mesh";
import { members, type OutputOf, worlds } from "@svc/proto";
import { type LockedServer, lockedServers, maintenanceAnnotation } from "@svc/world-lock";
import { namespace } from "./worlds.ts";

export type LifecycleStub = {
  owners: Map<string, string>;
  lastActive: Map<string, Date>;
  /** Runs before a server is described, and may change the world. */
  onDescribe: ((name: string) => Promise<void> | void) | undefined;
  isDown: boolean;
  /** The last good start of each server; one that is not there has had none. */
  lastStarts: Map<string, OutputOf<typeof worlds.readLastStart>>;
  /** What a description of a server contains in addition to its object. */
  overrides: Map<string, Partial<worlds.WorldServer>>;
  /** Servers that were taken from their owners, with the way it was done, in order. */
  released: { name: string; outcome: string }[];
};

export async function serveLifecycle(mesh: Mesh, kube: Kube): Promise<LifecycleStub> {
  const stub: LifecycleStub = {
    owners: new Map(),
    lastActive: new Map(),
    onDescribe: undefined,
    isDown: false,
    lastStarts: new Map(),
    overrides: new Map(),
    released: [],
  };
  const viewOf = ({ metadata, spec, status }: LockedServer): worlds.WorldServer => {
    const { name } = metadata;
    const owner_id = stub.owners.get(name);
    const phase = status?.phase ?? "Unknown";
    const desired_state = spec.desiredState ?? "Stopped";
    return {
      name,
      exists: true,
      ...(owner_id !== undefined && { owner_id }),
      last_active_at: (stub.lastActive.get(name) ?? new Date(0)).toISOString(),
      reaper_exempt: false,
      system: false,
      phase,
      desired_state,
      stopped: phase === "Stopped" && desired_state === "Stopped",
      volume_claim: claimOf(spec) ?? `world-${name}-0`,
      ...stub.overrides.get(name),
    };
  };
  mesh.serve(worlds.describeServer, async (context, { name }) => {
    await stub.onDescribe?.(name);
    if (stub.isDown) throw context.fault("unavailable");
    const server = await kube.find(lockedServers, { name, namespace });
    if (!server) throw context.fault("not_found", { message: `There is no server ${name}.` });
    return viewOf(server);
  });
  mesh.serve(worlds.listWorlds, async (context) => {
    if (stub.isDown) throw context.fault("unavailable");
    const { items } = await kube.list(lockedServers, { namespace });
    return { items: items.map(viewOf).sort((a, b) => (a.name < b.name ? -1 : 1)) };
  });
  const setWanted = async (name: string, desiredState: "Running" | "Stopped") => {
    const target = { name, namespace };
    const merge = { spec: { desiredState } };
    await kube.patch(lockedServers, target, { merge }).catch((error: unknown) => {
      if (!isKubeError(error, 404)) throw error;
    });
    const phase = desiredState;
    await kube.patch(lockedServers, target, { merge: { status: { phase } }, subresource: "status" });
  };
  mesh.serve(worlds.holdWorld, async (_context, { name }) => {
    const server = await kube.get(lockedServers, { name, namespace });
    const wasStopped = server.status?.phase === "Stopped";
    if (!wasStopped) await setWanted(name, "Stopped");
    return { stopped: wasStopped };
  });
  mesh.serve(worlds.resumeServer, async (_context, { name }) => {
    await setWanted(name, "Running");
    return null;
  });
  serveFacts(mesh, stub);
  serveReclaim(mesh, kube, stub);
  await mesh.announce();
  return stub;
}

function serveFacts(mesh: Mesh, stub: LifecycleStub): void {
  mesh.serve(worlds.readLastStart, (context, { name }) => {
    if (stub.isDown) throw context.fault("unavailable");
    return stub.lastStarts.get(name) ?? { rests: [] };
  });
  mesh.serve(members.listSharedWith, (context, { user_id }) => {
    if (stub.isDown) throw context.fault("unavailable");
    const shared = [...stub.overrides].flatMap(([server, { members: all = [] }]) => {
      const member = all.find((one) => one.user_id === user_id);
      const owner_id = stub.owners.get(server);
      return member && owner_id !== undefined ? [{ server, owner_id, rights: member.rights }] : [];
    });
    return { servers: shared };
  });
}

function claimOf(spec: object): string | undefined {
  return (spec as { storage?: { claimName?: string } }).storage?.claimName;
}

function serveReclaim(mesh: Mesh, kube: Kube, neighbour: LifecycleStub): void {
  const { owners, lastActive, overrides, released } = neighbour;
  mesh.serve(worlds.releaseWorld, async (_context, { name, outcome, owner_id }) => {
    const owner = owners.get(name);
    if (owner !== undefined && owner !== owner_id) return { done: false };
    if (outcome === "deleted" && !overrides.get(name)?.retiring?.delete) return { done: false };
    if (outcome === "deleted") {
      await kube.remove(lockedServers, { name, namespace }).catch((error: unknown) => {
        if (!isKubeError(error, 404)) throw error;
      });
    }
    owners.delete(name);
    overrides.delete(name);
    lastActive.set(name, new Date());
    released.push({ name, outcome });
    return { done: true };
  });
  mesh.serve(worlds.switchWorld, async (context, { name, lock, node_name, volume_claim }) => {
    if (neighbour.isDown) throw context.fault("unavailable");
    const { metadata, spec } = await kube.get(lockedServers, { name, namespace });
    if (metadata.annotations?.[maintenanceAnnotation] !== lock) {
      if (claimOf(spec) === volume_claim) return null;
      throw context.fault("maintenance_in_progress");
    }
    const annotations = { [maintenanceAnnotation]: null };
    const { resourceVersion } = metadata;
    const merge = {
      metadata: { resourceVersion, annotations },
      spec: { nodeName: node_name, storage: { claimName: volume_claim } },
    };
    await kube.patch(lockedServers, { name, namespace }, { merge });
    return null;
  });
  mesh.serve(worlds.stampWarning, (_context, { name, window, at }) => {
    overrides.set(name, { ...overrides.get(name), [`warned_${window}_at`]: at });
    return null;
  });
  mesh.serve(worlds.restartIdleClock, (_context, { name }) => {
    lastActive.set(name, new Date());
    return null;
  });
}
