// Builds on a real PostgreSQL, a real nats-server and an embedded cluster with the Roles as they are shipped, whose images
// are scripts of the test.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadSettings } from "@svc/config";
import { testProgram } from "@svc/config/test-program";
import { connectKube, type Kube, type KubeObject, resource } from "@svc/kube";
import { startLocalCluster } from "@svc/local-cluster";
import type { Mesh } from "@svc/mesh";
import { settleAll, startTestNats, type TestNats } from "@svc/mesh/testing";
import { builds } from "@svc/proto";
import { digestOf, mediaTypes, openRegistry, type Registry } from "@svc/registry";
import { startMemoryRegistry } from "@svc/registry/testing";
import { createWire, type TestDatabase, type Wire } from "@svc/store/testing";
import { createLogger, createRegistry, type Registry as Metrics } from "@svc/telemetry";
import { parseAllDocuments } from "yaml";
import { settings as schema } from "../config.ts";
import type { BuildsDb, Tables } from "../database.ts";
import { startBuilds } from "../service.ts";
import { admin, createBuildsDatabase } from "./fixture.ts";
import type { BuildScript } from "./step-program.ts";

const repo = fileURLToPath(new URL("../../../../", import.meta.url));
export const namespace = "svc-build";
export const registryHost = "registry.test:5000";
const internalUrl = "http://127.0.0.1:8081";
const image = "svc.local/build-agent";

/** Settings with short intervals. */
const quick = [
  `registry.url=${registryHost}`,
  `builds.agent_image=${image}`,
  `builds.scanner=${image}`,
  `builds.internal_url=${internalUrl}`,
  "builds.egress_gate=false",
  "registry.build_user_namespaces=off",
  "builds.busy_interval=50ms",
  "builds.poll_interval=500ms",
  "builds.lease_duration=2s",
  "builds.lease_renew=200ms",
  "builds.step_cpu=10m",
  "builds.step_memory=16Mi",
  "builds.scan_memory=16Mi",
  "registry.build_cpu_limit=10m",
  "registry.build_mem_limit=16Mi",
];

const summary = {
  policy: { fail_on: ["CRITICAL"], fail_unfixed: false },
  blocked: false,
  packages: 3,
  counts: { HIGH: 1 },
  blocking_counts: {},
  findings: [],
};
const verdictOf = (more: object) =>
  `svc-verdict ${JSON.stringify({ scanned_at: "2026-11-22T20:00:00.000Z", summary: { ...summary, ...more } })}`;

/** What the scripted step `push` says that it pushed. */
const pushed = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: mediaTypes.manifest, layers: [] }));
export const digest = digestOf(pushed);
export const base = { image_ref: `${registryHost}/bases/one:1`, digest: `sha256:${"b".repeat(64)}` };
export const blockedVerdict = verdictOf({
  blocked: true,
  blocking_counts: { CRITICAL: 1 },
  findings: [
    { id: "CVE-2026-1", kind: "vulnerability", severity: "CRITICAL", target: "libc", blocking: true },
  ],
});
/** What the steps of a build do that succeeds. */
export const success: BuildScript = {
  "context-fetch": {
    print: ["fetched 3 files"],
    message: JSON.stringify({
      context_digest: "c".repeat(64),
      bases: [base],
      builder: { name: "buildah", version: "1.28.2" },
    }),
  },
  build: {
    print: ["STEP 1/2: FROM scratch", "STEP 2/2: COPY . /data"],
    // What a RUN line might say.
    message: JSON.stringify({
      bases: [{ ...base, digest: `sha256:${"e".repeat(64)}` }],
      builder: { name: "buildah", version: "6.6.6" },
    }),
  },
  scan: { print: ["scanned"] },
  "scan-gate": { print: [verdictOf({})] },
  push: { print: ["pushed"], message: JSON.stringify({ digest, bytes: 17 }) },
};

export type BuildReplica = { registry: Metrics; stop: () => Promise<void> };
type ReplicaOptions = {
  overrides?: readonly string[];
  /** Called in the transaction that ends a build, after everything else. */
  onBuildEnded?: () => Promise<void>;
  wrapPublish?: (publish: Mesh["publish"]) => Mesh["publish"];
  wrapKube?: (kube: Kube) => Kube;
  wrapRegistry?: (registry: Registry) => Registry;
};

export type BuildFixture = {
  /** Has all rights. */
  kube: Kube;
  nats: TestNats;
  wire: Wire;
  /** Where provenance is kept. */
  registry: Registry;
  db: BuildsDb;
  gateway: Mesh;
  internal: Mesh;
  start: (options?: ReplicaOptions) => Promise<BuildReplica>;
  /** What steps do from now on: of one build, or of all. */
  script: (script: BuildScript, id?: string) => void;
  /** Steps with `waitWhile` of this name wait until it is released. */
  hold: (name: string) => void;
  release: (name: string) => void;
  /** Steps of a build that were started, each as often as it was. */
  runs: (id: string) => string[];
  /** Ends of builds, as they were told in the transaction of the end. */
  ended: string[];
  request: (tag: string) => Parameters<Mesh["call"]>[1];
  read: (id: string) => Promise<builds.Build>;
  close: () => Promise<void>;
};

/** Writes `kubeconfig` and `kubeconfig.builds` to the folder. */
type StartBuildCluster = (dataDir: string) => Promise<{ close: () => Promise<void> }>;

/** On an embedded cluster, or on another in which the release is installed. */
export async function openBuildFixture(cluster?: StartBuildCluster): Promise<BuildFixture> {
  await using stack = new AsyncDisposableStack();
  const dataDir = mkdtempSync(join(tmpdir(), "svc-builds-"));
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  const control = join(dataDir, "control");
  mkdirSync(control);
  const [, nats, database, { host }] = await settleAll([
    (cluster?.(dataDir) ?? startCluster(dataDir, control)).then((one) => stack.adopt(one, () => one.close())),
    startTestNats().then((nats) => stack.adopt(nats, () => nats.stop())),
    createBuildsDatabase().then((database) => stack.adopt(database, () => database.drop())),
    startMemoryRegistry().then((registry) => stack.adopt(registry, () => registry.stop())),
  ]);
  const kube = connectKube({ kubeconfigFile: join(dataDir, "kubeconfig") });
  stack.defer(() => kube.close());
  for (const file of cluster ? [] : ["prerequisites/namespaces.yaml", "base/roles.yaml"])
    await applyRoles(kube, file);
  const wire = await createWire(database.url);
  stack.defer(() => wire.cut());
  const watching = stack.adopt(database.open<Tables>(), (store) => store.close());
  const connect = async (name: "gateway-external" | "gateway-internal") =>
    stack.adopt(await nats.connect(name), (mesh) => mesh.drain(500));
  const [gateway, internal] = [await connect("gateway-external"), await connect("gateway-internal")];
  const replicas = new Set<BuildReplica>();
  stack.defer(async () => {
    for (const replica of replicas) await replica.stop();
  });
  const ended: string[] = [];
  const registry = knowingImages(openRegistry({ host, plainHttp: true }));
  const parts = { nats, database, wire, registry, kubeconfig: join(dataDir, "kubeconfig.builds"), ended };
  const owned = stack.move();
  return {
    kube,
    nats,
    wire,
    registry,
    db: watching.db,
    gateway,
    internal,
    ended,
    start: async (options = {}) => {
      const replica = await startReplica(parts, options);
      replicas.add(replica);
      return { ...replica, stop: () => (replicas.delete(replica) ? replica.stop() : Promise.resolve()) };
    },
    script: (script, id = "default") => writeFileSync(join(control, `${id}.json`), JSON.stringify(script)),
    hold: (name) => writeFileSync(join(control, name), ""),
    release: (name) => existsSync(join(control, name)) && rmSync(join(control, name)),
    runs: (id) => {
      const all = readFileSync(join(control, "runs"), "utf8").split("\n");
      return all.filter((line) => line.startsWith(id)).map((line) => line.slice(id.length + 1));
    },
    request: (tag) => ({
      image_ref: `${registryHost}/packs/${tag}:1`,
      dockerfile: "FROM scratch",
      context_ref: `${internalUrl}/api/v1/internal/submissions/sub-${"a".repeat(24)}/context`,
    }),
    read: (id) => gateway.call(builds.readBuild, { id }, admin),
    close: () => owned.disposeAsync(),
  };
}

function startCluster(dataDir: string, control: string) {
  const images = join(dataDir, "images.json");
  const program = testProgram(fileURLToPath(new URL("./step-program.ts", import.meta.url)));
  const env = { NODE_COMPILE_CACHE: join(repo, "node_modules/.cache/v8") };
  writeFileSync(images, JSON.stringify({ [image]: { command: [process.execPath, program, control], env } }));
  const serviceAccounts = [{ namespace: "svc", name: "builds" }];
  return startLocalCluster({ dataDir, port: 0, images, serviceAccounts, crashBackoffMs: 200 });
}

const plurals: Record<string, [group: string, plural: string, namespaced: boolean]> = {
  Namespace: ["", "namespaces", false],
  ServiceAccount: ["", "serviceaccounts", true],
  Role: ["rbac.authorization.k8s.io", "roles", true],
  RoleBinding: ["rbac.authorization.k8s.io", "rolebindings", true],
  ClusterRole: ["rbac.authorization.k8s.io", "clusterroles", false],
  ClusterRoleBinding: ["rbac.authorization.k8s.io", "clusterrolebindings", false],
};

export async function applyRoles(kube: Kube, file: string): Promise<void> {
  for (const document of parseAllDocuments(readFileSync(join(repo, "deploy/kubernetes", file), "utf8"))) {
    const object = document.toJS() as KubeObject;
    const [group, plural, namespaced] = plurals[object.kind] ?? ["", "", false];
    await kube.create(resource({ group, version: "v1", plural, kind: object.kind, namespaced }), object);
  }
}

/** The steps of these tests push nothing: every image that they name counts as there. */
function knowingImages(registry: Registry): Registry {
  const headManifest = async (_path: string, digest: string) => ({
    mediaType: mediaTypes.manifest,
    digest,
    size: 17,
  });
  const getManifest: Registry["getManifest"] = async (path, reference, signal) =>
    reference === digest
      ? { mediaType: mediaTypes.manifest, digest, bytes: pushed }
      : registry.getManifest(path, reference, signal);
  return { ...registry, headManifest, getManifest };
}

type Parts = {
  nats: TestNats;
  database: TestDatabase;
  wire: Wire;
  registry: Registry;
  kubeconfig: string;
  ended: string[];
};

async function startReplica(
  { nats, database, wire, registry: pushRegistry, kubeconfig, ended }: Parts,
  { overrides = [], onBuildEnded, wrapPublish, wrapKube, wrapRegistry }: ReplicaOptions,
): Promise<BuildReplica> {
  const settings = loadSettings(schema, { overrides: [...quick, ...overrides] });
  const registry = createRegistry("builds", "test");
  const log = createLogger("builds", "silent");
  const mesh = await nats.connect("builds", { registry });
  const store = database.open<Tables>({ url: wire.url });
  const own = connectKube({ kubeconfigFile: kubeconfig });
  const running = await startBuilds(
    { settings, mesh, store, log, registry },
    {
      kube: wrapKube?.(own) ?? own,
      env: { SVC_BUILD_TOKEN: "caller", SVC_REGISTRY_PUSH_TOKEN: "build:secret" },
      pushRegistry: wrapRegistry?.(pushRegistry) ?? pushRegistry,
      onBuildEnded: async (_trx, { id, status }) => {
        await onBuildEnded?.();
        ended.push(`${id} ${status}`);
      },
    },
  );
  await mesh.announce();
  const relay = database.relayOutbox(wrapPublish?.(mesh.publish) ?? mesh.publish, wire.url);
  const stop = async () => {
    await running.stop?.();
    await relay.close();
    await mesh.drain(500);
    await store.close();
    own.close();
  };
  return { registry, stop };
}
