// Worlds on node-bound volumes, on a cluster of two nodes.

import { type KubeObject, resource, resources } from "@svc/kube";
import { staff, until } from "@svc/mesh/testing";
import { migrations } from "@svc/proto";
import { lockedServers, maintenanceAnnotation } from "@svc/world-lock";
import { openFaceFixture } from "../face-fixture.ts";
import type { Fixture, Replica, StartCluster } from "../fixture.ts";
import { type StorageProcess, startProcess } from "../storage-process.ts";
import { addServerObject, namespace, readFiles, writeFiles } from "../worlds.ts";

type Volume = KubeObject & { spec: { local: { path: string } } };
const volumes = resource<Volume>({
  group: "",
  version: "v1",
  plural: "persistentvolumes",
  kind: "PersistentVolume",
  namespaced: false,
});

export type MoveFixture = {
  base: Fixture;
  internalUrl: string;
  start: (overrides?: readonly string[]) => Promise<Replica>;
  /** All replicas that were started here. */
  replicas: Replica[];
  addNodeClaim: (name: string, node: string) => Promise<void>;
  /** A replica in its own process, to be ended with SIGKILL. */
  startProcess: () => Promise<StorageProcess>;
  /** A stopped server whose world is on `local-1`. */
  addWorld: (name: string, files?: Record<string, string>) => Promise<void>;
  begin: (name: string, targetNode?: string) => Promise<migrations.WorldMigration>;
  retry: (name: string, id: string) => Promise<migrations.WorldMigration>;
  cancel: (name: string, id: string) => Promise<migrations.WorldMigration>;
  read: (name: string) => Promise<migrations.WorldMigration>;
  /** Waits until the move is in one of these states. */
  reaches: (name: string, ...states: migrations.MigrationState[]) => Promise<migrations.WorldMigration>;
  filesOf: (claim: string) => Promise<Record<string, string>>;
  /** Folder of a volume. */
  pathOf: (claim: string) => Promise<string>;
  writeTo: (claim: string, files: Record<string, string>) => Promise<void>;
  lockOf: (name: string) => Promise<string | undefined>;
  setLock: (name: string, value: string | null) => Promise<void>;
  hasClaim: (claim: string) => Promise<boolean>;
  close: () => Promise<void>;
  specOf: (name: string) => Promise<{ nodeName?: string; storage?: { claimName?: string } }>;
};

export async function openMoveFixture(
  agent: "pausing" | "shipped",
  cluster?: StartCluster,
): Promise<MoveFixture> {
  const faces = await openFaceFixture({ agent, ...(cluster && { cluster }) });
  const { base } = faces;
  const settings = ["storage.move_interval=50ms", "storage.keep_free=0"];
  const replicas: Replica[] = [];
  const { kube } = base;
  const pathOf = async (claim: string) => {
    const { spec } = await kube.get(resources.claims, { name: claim, namespace });
    return (await kube.get(volumes, { name: spec?.volumeName ?? "" })).spec.local.path;
  };
  const serverOf = (name: string) => kube.get(lockedServers, { name, namespace });
  const read = (name: string) => base.external.call(migrations.readLatest, { name }, staff);
  return {
    base,
    internalUrl: faces.internalUrl,
    replicas,
    start: async (overrides = []) => {
      const replica = await faces.start([...settings, ...overrides]);
      replicas.push(replica);
      return replica;
    },
    addNodeClaim: (name, node) => addNodeClaim(base, name, node),
    startProcess: () => startProcess(base, [...faces.settings, ...settings]),
    hasClaim: async (name) => {
      const claim = await kube.find(resources.claims, { name, namespace });
      return claim !== undefined && claim.metadata.deletionTimestamp === undefined;
    },
    close: () => faces.close(),
    addWorld: async (name, files = { "level.dat": name, "region/r.0.0.mca": `${name} chunks` }) => {
      const claim = `world-${name}-0`;
      await addNodeClaim(base, claim, "local-1");
      writeFiles(await pathOf(claim), files);
      base.servers.owners.set(name, "usr-1");
      await addServerObject(kube, name);
    },
    begin: (name, targetNode = "local-2") =>
      base.external.call(migrations.begin, { name, targetNode }, staff),
    retry: (name, id) => base.external.call(migrations.retry, { name, id }, staff),
    cancel: (name, id) => base.external.call(migrations.cancel, { name, id }, staff),
    read,
    reaches: async (name, ...states) => {
      let seen: migrations.WorldMigration | undefined;
      await until(async () => {
        seen = await read(name);
        return states.includes(seen.state);
      }, 60_000);
      return seen as migrations.WorldMigration;
    },
    pathOf,
    filesOf: async (claim) => readFiles(await pathOf(claim)),
    writeTo: async (claim, files) => writeFiles(await pathOf(claim), files),
    lockOf: async (name) => (await serverOf(name)).metadata.annotations?.[maintenanceAnnotation],
    setLock: async (name, value) => {
      const merge = { metadata: { annotations: { [maintenanceAnnotation]: value } } };
      await kube.patch(lockedServers, { name, namespace }, { merge });
    },
    specOf: async (name) => (await serverOf(name)).spec as object,
  };
}

// The scheduler writes the node of a claim's first pod there; without a pod the test does.
async function addNodeClaim({ kube }: Fixture, name: string, node: string): Promise<void> {
  await kube.create(resources.claims, {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace, annotations: { "volume.kubernetes.io/selected-node": node } },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  });
  await until(async () => (await kube.get(resources.claims, { name, namespace })).status?.phase === "Bound");
}
