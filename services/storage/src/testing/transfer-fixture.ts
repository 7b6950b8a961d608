// All participants of a byte transfer as processes that can be killed: storage, two gateways of each face, NATS, PostgreSQL, the
// cluster and the agent. Requests of users alternate between the gateways, Jobs use one proxy in front of both.

import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { testProgram } from "@svc/config/test-program";
import { resources } from "@svc/kube";
import { accounts } from "@svc/proto";
import { findHolder, isJobFinished, lockedServers } from "@svc/world-lock";
import { type ClusterProcess, createClusterProcess } from "./cluster-process.ts";
import { type Answer, type Ask, askFace, resolveTestSession } from "./face-fixture.ts";
import { type Fixture, openFixture } from "./fixture.ts";
import { type GatewayProcess, startGateway } from "./gateway-process.ts";
import { type InternalProxy, openInternalProxy, type StreamPosition } from "./internal-proxy.ts";
import { type GatedProcess, startGated } from "./storage-process.ts";
import { namespace } from "./worlds.ts";

const victims = [
  "storage",
  "NATS",
  "PostgreSQL",
  "the external gateway",
  "the internal gateway",
  "the agent",
  "the cluster",
] as const;
export type Victim = (typeof victims)[number];

/** A step of storage (`step-names.ts`) or a position in a Job's stream to the internal face. */
export type Step = string | StreamPosition;

export type TransferFixture = {
  base: Fixture;
  stagingDir: string;
  worldDir: (name: string) => string;
  /** Sends a request to one of the external gateways as `usr-1`; throws when the connection breaks. */
  ask: (path: string, about?: Ask) => Promise<Answer>;
  /** Port of the gateway that the next request goes to. */
  nextPort: () => number;
  /** Resolves when a transfer is at that step, where it stays until `proceed`. */
  pauseAt: (step: Step) => Promise<void>;
  resume: () => void;
  kill: (victim: Victim) => Promise<void>;
  /** Hangs it: it keeps its connections and does not respond. */
  hang: (victim: Victim) => void;
  /** Restarts or resumes whatever was killed or hung. */
  recover: () => Promise<void>;
  /** True when no Job runs and nobody has the lock of the world. */
  isFree: (server: string) => Promise<boolean>;
  close: () => Promise<void>;
};

const lockTtlMs = 2_000;

/** Settings with short waiting times. */
const quick = [
  "storage.staging_keep_free=0",
  `storage.lock_ttl=${lockTtlMs}ms`,
  "storage.lock_refresh=300ms",
  "storage.upload_lease=1s",
  "storage.upload_sweep=300ms",
  "storage.file_op_patience=1500ms",
  "storage.file_op_settle=100ms",
  "storage.export_sweep=200ms",
  "storage.export_wait=4s",
  "storage.export_body=2s",
  "storage.export_hourly=10000",
  "storage.file_wait=10s",
  "storage.file_deadline=10s",
];

export async function openTransferFixture(own: readonly string[] = []): Promise<TransferFixture> {
  const cluster = createClusterProcess();
  const base = await openFixture({ agent: "shipped", cluster: cluster.start });
  base.identity.serve(accounts.resolveSession, (_context, { hash }) => resolveTestSession(hash));
  await base.identity.announce();
  const stagingDir = join(dirname(base.archiveDir), "uploads");
  mkdirSync(stagingDir);
  const faces = ["external", "external", "internal", "internal"] as const;
  const gateways = await Promise.all(faces.map((face) => startGateway(face, base)));
  const [external, internal] = [gateways.slice(0, 2), gateways.slice(2)];
  const internalProxy = await openInternalProxy(() => internal.map(({ port }) => port()));
  const settings = [
    ...quick,
    ...own,
    `archive.local_path=${base.archiveDir}`,
    `storage.internal_url=${internalProxy.url}`,
    `storage.staging_path=${stagingDir}`,
  ];
  const parts = {
    base,
    cluster,
    external,
    internal,
    internalProxy,
    settings,
    storage: await startGated(base, settings),
  };
  return fixtureOf(parts, stagingDir);
}

type Parts = {
  base: Fixture;
  cluster: ClusterProcess;
  external: GatewayProcess[];
  internal: GatewayProcess[];
  internalProxy: InternalProxy;
  settings: string[];
  storage: GatedProcess;
};

function fixtureOf(parts: Parts, stagingDir: string): TransferFixture {
  const { base, external, internalProxy } = parts;
  let turn = 0;
  const nextPort = () => {
    const alive = external.flatMap((gateway) => gateway.port() ?? []);
    turn += 1;
    return alive[turn % alive.length] ?? 0;
  };
  let repairs: (() => Promise<unknown>)[] = [];
  return {
    base,
    stagingDir,
    worldDir: (name) => join(base.dataDir, "worlds", name),
    nextPort,
    ask: (path, about = {}) => askFace(`http://127.0.0.1:${nextPort()}`, path, about),
    pauseAt: (step) => (typeof step === "string" ? parts.storage.pauseAt(step) : internalProxy.pauseAt(step)),
    resume: () => {
      internalProxy.resume();
      parts.storage.resume();
    },
    kill: async (victim) => void repairs.push(await inject(parts, victim, () => turn)),
    hang: (victim) => {
      const resume = pause(parts, victim, () => turn);
      repairs.push(async () => resume());
    },
    recover: async () => {
      for (const repair of repairs) await repair();
      repairs = [];
    },
    isFree: (server) => isFree(base, server),
    close: async () => {
      await internalProxy.close();
      await Promise.all([parts.storage, ...external, ...parts.internal].map((one) => one.kill()));
      await base.close();
    },
  };
}

/** Kills it without a clean shutdown; returns what restarts it. */
async function inject(parts: Parts, victim: Victim, turn: () => number): Promise<() => Promise<unknown>> {
  const { base, external, internal, internalProxy } = parts;
  const killGateway = async (gateway: GatewayProcess | undefined) => {
    await gateway?.kill();
    return async () => gateway?.start();
  };
  switch (victim) {
    case "storage":
      await parts.storage.kill();
      return async () => {
        parts.storage = await startGated(base, parts.settings);
      };
    case "NATS":
      await base.nats.kill();
      return base.nats.start;
    case "PostgreSQL":
      await base.wire.cut();
      return base.wire.recover;
    case "the external gateway":
      return killGateway(external[turn() % external.length]);
    case "the internal gateway":
      return killGateway(internal[internalProxy.lastTarget()]);
    case "the cluster":
      await parts.cluster.kill();
      return parts.cluster.restart;
    case "the agent":
      signalAgents(base.dataDir, "SIGKILL");
      return async () => {};
  }
}

/** Pauses it; returns what resumes it. */
function pause(parts: Parts, victim: Victim, turn: () => number): () => void {
  const { base, external, internal, internalProxy } = parts;
  switch (victim) {
    case "storage":
      return parts.storage.pause();
    case "NATS":
      return base.nats.pause();
    case "PostgreSQL":
      return base.wire.pause();
    case "the external gateway":
      return external[turn() % external.length]?.pause() ?? (() => {});
    case "the internal gateway":
      return internal[internalProxy.lastTarget()]?.pause() ?? (() => {});
    case "the cluster":
      return parts.cluster.pause();
    case "the agent": {
      const pids = signalAgents(base.dataDir, "SIGSTOP");
      return () => {
        for (const pid of pids) resume(pid);
      };
    }
  }
}

function resume(pid: number): void {
  try {
    process.kill(pid, "SIGCONT");
  } catch {
    // The cluster ended it meanwhile.
  }
}

const agentProgram = testProgram(resolve(import.meta.dirname, "../../../world-agent/src/main.ts"));

/** Sends every agent of this folder a signal and returns their pids. */
function signalAgents(dataDir: string, signal: NodeJS.Signals): number[] {
  const pids: number[] = [];
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    let words: string;
    try {
      words = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    } catch {
      continue;
    }
    const isAgent = words.startsWith(process.execPath) && words.includes(agentProgram);
    if (!isAgent || !words.includes(dataDir)) continue;
    process.kill(Number(pid), signal);
    pids.push(Number(pid));
  }
  return pids;
}

async function isFree({ kube }: Fixture, name: string): Promise<boolean> {
  const { items } = await kube.list(resources.jobs, { namespace });
  const server = await kube.get(lockedServers, { name, namespace });
  const holder = await findHolder(kube, server, { now: Date.now(), ttlMs: lockTtlMs });
  return items.every(isJobFinished) && holder === undefined;
}
