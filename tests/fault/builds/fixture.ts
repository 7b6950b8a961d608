// Everything that a pack passes through on its way to the whitelist, as processes that can be killed: builds, the gateways, NATS,
// PostgreSQL, the cluster, the registry and its gate, and the steps of a Job. Identity and lifecycle answer from here.

import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { connectKube, type Kube } from "@svc/kube";
import { nodeFlags } from "@svc/local-stack";
import type { Mesh } from "@svc/mesh";
import { accounts, notices, servers } from "@svc/proto";
import { createWire, type Wire } from "@svc/store/testing";
import { startTestNats, type TestNats, until } from "../../../libs/mesh/src/testing.ts";
import type { BuildsDb, Tables } from "../../../services/builds/src/database.ts";
import { applyRoles, namespace } from "../../../services/builds/src/testing/build-fixture.ts";
import { createBuildsDatabase } from "../../../services/builds/src/testing/fixture.ts";
import {
  type GatedRegistry,
  startGatedRegistry,
} from "../../../services/builds/src/testing/gated-registry.ts";
import {
  type Answer,
  type Ask,
  askFace,
  resolveTestSession,
} from "../../../services/storage/src/testing/face-fixture.ts";
import { type GatewayProcess, startGateway } from "../../../services/storage/src/testing/gateway-process.ts";
import {
  type InternalProxy,
  openInternalProxy,
} from "../../../services/storage/src/testing/internal-proxy.ts";
import { type ContextsKind, startContexts, type TestContexts } from "./contexts.ts";
import { Program } from "./program.ts";
import { findShippedBuilds, type Main, startWarm } from "./shipped.ts";

const repo = resolve(import.meta.dirname, "../../..");
const image = "svc.local/build-agent";
const callerToken = "caller-token-of-builds";

const victims = [
  "builds",
  "NATS",
  "PostgreSQL",
  "the cluster",
  "the external gateway",
  "the internal gateway",
  "the registry",
  "the gate",
  "the bucket",
  "the step",
] as const;
export type Victim = (typeof victims)[number];

export type PipelineFixture = {
  kube: Kube;
  db: BuildsDb;
  /** Calls as the external gateway does. */
  gateway: Mesh;
  /** Reads events as the person at the host does. */
  operator: Mesh;
  registry: GatedRegistry;
  /** Names of the stored blobs of contexts. */
  stored: () => string[];
  /** Makes every stored blob an hour old: the sweep deletes those that no row names. */
  age: () => void;
  /** Mails that identity was asked to send. */
  mails: { user_id: string; kind: string; facts: Record<string, string> }[];
  /** What lifecycle says that servers run. */
  used: string[];
  /** Sends a request to one of the external gateways as `usr-1`; throws when the connection breaks. */
  ask: (path: string, about?: Ask) => Promise<Answer>;
  /** From now on this step of a Job (`step NAME`) waits until it is resumed. */
  hold: (step: string) => void;
  /** Resolves when builds is about to take that step (`step-names.ts`), or when that step of a Job waits; it is held if it is not. */
  pauseAt: (step: string) => Promise<void>;
  resume: (step: string) => void;
  /** SIGKILL; the returned function starts it again. */
  kill: (victim: Victim) => Promise<() => Promise<unknown>>;
  /** Lets the held step of a build print so many lines a second, each with the time at which it was printed. */
  print: (id: string, pace: { perSecond: number; seconds: number }) => void;
  isPrinting: (id: string) => boolean;
  /** Of the external gateways. */
  ports: () => number[];
  /** Steps of a build that were started, each as often as it was. */
  runs: (id: string) => string[];
  close: () => Promise<void>;
};

const quick = [
  `builds.agent_image=${image}`,
  `builds.scanner=${image}`,
  "builds.egress_gate=false",
  "builds.busy_interval=50ms",
  "builds.poll_interval=300ms",
  "builds.lease_duration=2s",
  "builds.lease_renew=200ms",
  "builds.step_cpu=10m",
  "builds.step_memory=16Mi",
  "builds.scan_memory=16Mi",
  "registry.build_cpu_limit=10m",
  "registry.build_mem_limit=16Mi",
  "registry.scan_db=optional",
  "registry.user_uploads_keep_free=0",
  "registry.build_user_namespaces=off",
  "builds.submission_cooldown=0s",
  "builds.upload_cooldown=0s",
  "builds.upload_lease=1s",
  "builds.submissions_pending=1000",
  "builds.notice_interval=200ms",
  // Longer than any pause of a test between the storing of a blob and the row that names it.
  "builds.unnamed_keep=10m",
  "builds.sweep_interval=500ms",
];

type PipelineOptions = {
  contextsIn?: ContextsKind;
  /** Builds as it is shipped, bundled and with its code cache: it cannot be paused at a step. */
  isShipped?: boolean;
};

export async function openPipelineFixture(
  overrides: readonly string[] = [],
  { contextsIn = "folder", isShipped = false }: PipelineOptions = {},
): Promise<PipelineFixture> {
  await using stack = new AsyncDisposableStack();
  const dataDir = mkdtempSync(join(tmpdir(), "svc-pipeline-"));
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  const control = join(dataDir, "control");
  mkdirSync(control);
  writeFileSync(join(control, "runs"), "");
  const cluster = clusterProgram(dataDir, control);
  const [contexts, , nats, database, registry] = await Promise.all([
    startContexts(contextsIn, dataDir).then((one) => stack.adopt(one, () => one.close())),
    cluster.start().then(() => stack.adopt(cluster, (one) => void one.child?.kill("SIGTERM"))),
    startTestNats().then((one) => stack.adopt(one, () => one.stop())),
    createBuildsDatabase().then((one) => stack.adopt(one, () => one.drop())),
    startGatedRegistry().then((one) => stack.adopt(one, () => one.stop())),
  ]);
  const kube = stack.adopt(connectKube({ kubeconfigFile: join(dataDir, "kubeconfig") }), (one) =>
    one.close(),
  );
  for (const file of ["prerequisites/namespaces.yaml", "base/roles.yaml"]) await applyRoles(kube, file);
  const wire = stack.adopt(await createWire(database.url), (one) => one.cut());
  const watching = stack.adopt(database.open<Tables>(), (one) => one.close());
  const { gateway, mails, used } = await serveNeighbours(nats, stack);
  const operator = stack.adopt(await nats.connect("operator"), (one) =>
    one.drain(500).catch(() => undefined),
  );
  const faces = await startFaces(nats, stack);
  const { url } = faces.internalProxy;
  const settings = [
    ...quick,
    `registry.url=${registry.host}`,
    ...contexts.settings,
    `builds.internal_url=${url}`,
    ...overrides,
  ];
  const main = isShipped ? await findShippedBuilds() : gatedBuilds;
  const builds = buildsProgram({ nats, wire, dataDir, settings, registry, contexts, main });
  stack.adopt(builds, async (one) => void (await one.kill()));
  await (isShipped ? startWarm(builds) : builds.start());
  const parts = { dataDir, control, cluster, nats, wire, registry, contexts, faces, builds };
  const owned = stack.move();
  return {
    ...fixtureOf(parts),
    kube,
    db: watching.db,
    gateway,
    operator,
    registry,
    mails,
    used,
    stored: contexts.stored,
    age: contexts.age,
    close: () => owned.disposeAsync(),
  };
}

function clusterProgram(dataDir: string, control: string): Program {
  const images = join(dataDir, "images.json");
  const scanner = [process.execPath, join(import.meta.dirname, "scanner.ts")];
  const env = {
    NODE_COMPILE_CACHE: join(repo, "node_modules/.cache/v8"),
    SVC_TRIVY: JSON.stringify(scanner),
  };
  const command = [process.execPath, join(import.meta.dirname, "agent.ts"), control];
  writeFileSync(images, JSON.stringify({ [image]: { command, env } }));
  const main = join(repo, "libs/local-cluster/src/main.ts");
  const account = ["--service-account", "svc/builds"];
  const args = [main, "--data", dataDir, "--images", images, ...account, "--crash-backoff-ms", "200"];
  let port = "0";
  return new Program(
    () => spawn(process.execPath, [...args, "--port", port], { stdio: ["ignore", "pipe", "inherit"] }),
    (line) => {
      const found = / ready at (\S+)/.exec(line)?.[1];
      if (found !== undefined) ({ port } = new URL(found));
      return found !== undefined;
    },
  );
}

type Neighbours = Pick<PipelineFixture, "gateway" | "mails" | "used">;

async function serveNeighbours(nats: TestNats, stack: AsyncDisposableStack): Promise<Neighbours> {
  const connect = async (name: "identity" | "lifecycle" | "gateway-external") =>
    stack.adopt(await nats.connect(name), (mesh) => mesh.drain(500).catch(() => undefined));
  const [identity, lifecycle] = [await connect("identity"), await connect("lifecycle")];
  identity.serve(accounts.resolveSession, ({ client }, { hash }) => {
    const found = resolveTestSession(hash);
    // At the operator console everybody who is signed in is staff here.
    if (client.host !== "operator" || found.state !== "live") return found;
    return { ...found, role: "admin" as const, host: "operator" as const };
  });
  const [mails, used]: [PipelineFixture["mails"], string[]] = [[], []];
  identity.serve(notices.sendNotice, (_context, mail) => {
    mails.push(mail);
    return { result: "delivered" as const };
  });
  lifecycle.serve(servers.listImages, () => ({ items: [{ server: "a", images: used }] }));
  for (const mesh of [identity, lifecycle]) await mesh.announce();
  return { gateway: await connect("gateway-external"), mails, used };
}

type Faces = { external: GatewayProcess[]; internal: GatewayProcess[]; internalProxy: InternalProxy };

async function startFaces(nats: TestNats, stack: AsyncDisposableStack): Promise<Faces> {
  process.env["SVC_BUILD_TOKEN"] = callerToken;
  const names = ["external", "external", "internal", "internal"] as const;
  const all = await Promise.all(names.map((face) => startGateway(face, { nats })));
  for (const one of all) stack.defer(() => one.kill());
  const [external, internal] = [all.slice(0, 2), all.slice(2)];
  const internalProxy = stack.adopt(
    await openInternalProxy(() => internal.map(({ port }) => port())),
    (one) => one.close(),
  );
  return { external, internal, internalProxy };
}

const gatedBuilds: Main = { args: [...nodeFlags, join(import.meta.dirname, "step-gate.ts")], env: {} };

type Made = Pick<Parts, "nats" | "wire" | "dataDir" | "registry" | "contexts"> & {
  settings: string[];
  main: Main;
};

function buildsProgram({ nats, wire, dataDir, settings, registry, contexts, main }: Made): Program {
  const env = {
    ...process.env,
    ...main.env,
    SVC_NATS_URL: nats.url,
    SVC_NATS_USER: "builds",
    SVC_NATS_PASSWORD: nats.passwords["builds"] ?? "",
    SVC_DATABASE_URL: wire.url,
    SVC_KUBECONFIG: join(dataDir, "kubeconfig.builds"),
    SVC_HEALTH_PORT: "0",
    SVC_SET: settings.join("\n"),
    SVC_BUILD_TOKEN: callerToken,
    SVC_REGISTRY_PUSH_TOKEN: registry.credentials.build,
    SVC_REGISTRY_PRUNE_TOKEN: registry.credentials.prune,
    ...contexts.env,
  };
  const start = () => {
    const told = { ...env, SVC_TEST_STOP_AT: program.stopAt };
    return spawn(process.execPath, main.args, { stdio: ["ignore", "pipe", "inherit", "ipc"], env: told });
  };
  const program: Program = new Program(start, (line) => line.includes('"msg":"ready"'));
  return program;
}

/** For what only a hang does not reach. */
const longestMs = 300_000;

export const isOfJob = (step: string) => step.startsWith("step ");

type Parts = {
  dataDir: string;
  control: string;
  cluster: Program;
  nats: TestNats;
  wire: Wire;
  registry: GatedRegistry;
  contexts: TestContexts;
  faces: Faces;
  builds: Program;
};

function fixtureOf(
  parts: Parts,
): Pick<
  PipelineFixture,
  "ask" | "hold" | "pauseAt" | "resume" | "kill" | "print" | "isPrinting" | "ports" | "runs"
> {
  const { control, faces, builds } = parts;
  let turn = 0;
  const holdOf = (step: string) => join(control, step.replace("step ", "hold-"));
  const allRuns = () => readFileSync(join(control, "runs"), "utf8").split("\n").filter(Boolean);
  const hold = (step: string) => writeFileSync(holdOf(step), String(allRuns().length));
  return {
    ask: (path, about = {}) => {
      const alive = faces.external.flatMap((one) => one.port() ?? []);
      turn += 1;
      return askFace(`http://127.0.0.1:${alive[turn % alive.length] ?? 0}`, path, about);
    },
    hold,
    pauseAt: async (step) => {
      if (!isOfJob(step)) return builds.pauseAt(step);
      if (!existsSync(holdOf(step))) hold(step);
      const before = Number(readFileSync(holdOf(step), "utf8"));
      const isThere = (run: string) => run.endsWith(step.slice("step".length));
      await until(() => allRuns().slice(before).some(isThere), longestMs);
    },
    resume: (step) => {
      if (isOfJob(step)) rmSync(holdOf(step), { force: true });
      else builds.tell({ proceed: step });
    },
    kill: (victim) => inject(parts, victim, turn),
    print: (id, pace) => writeFileSync(join(control, `print-${id}`), JSON.stringify(pace)),
    isPrinting: (id) => existsSync(join(control, `print-${id}`)),
    ports: () => faces.external.flatMap((one) => one.port() ?? []),
    runs: (id) => allRuns().flatMap((run) => (run.startsWith(`${id} `) ? [run.slice(id.length + 1)] : [])),
  };
}

async function inject(parts: Parts, victim: Victim, turn: number): Promise<() => Promise<unknown>> {
  const { nats, wire, registry, contexts, faces, cluster, builds } = parts;
  const killFace = async (face: GatewayProcess | undefined) => {
    await face?.kill();
    return async () => face?.start();
  };
  switch (victim) {
    case "builds":
      return builds.kill();
    case "the cluster":
      return cluster.kill();
    case "NATS":
      await nats.kill();
      return nats.start;
    case "PostgreSQL":
      await wire.cut();
      return wire.recover;
    case "the external gateway":
      return killFace(faces.external[turn % faces.external.length]);
    case "the internal gateway":
      return killFace(faces.internal[faces.internalProxy.lastTarget()]);
    case "the registry":
      return registry.kill("registry");
    case "the gate":
      return registry.kill("gate");
    case "the bucket":
      return contexts.kill();
    case "the step":
      killAgents(parts.control);
      return async () => undefined;
  }
}

/** Kills the steps of Jobs that run in this folder. */
function killAgents(control: string): void {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const file = `/proc/${pid}/cmdline`;
    const words = existsSync(file) ? readOrEmpty(file) : "";
    if (words.startsWith(process.execPath) && words.includes("/agent.ts\0") && words.includes(control))
      process.kill(Number(pid), "SIGKILL");
  }
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

export { namespace };
