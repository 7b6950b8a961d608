// G24: a file of 256 MB from a browser until it is in the world of a stopped server, and one out of it, through the
// gateways of a whole stack. An upload goes in parts of 32 MiB and ends when its operation has succeeded; a download ends
// with its last byte, from the request that starts it. The CPU is that of every process on the path, Jobs included, and
// the note says which took how much; the client writes one block again and again and drops what it reads.
// The peer's figures are of the reference machine, so they mean something only there. The anchor is one Fastify process
// that takes the same parts with a digest and copies them into place, or sends the file.

import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { until } from "@svc/local-stack/testing";
import type { Bench, Goal } from "../harness/bench.ts";
import { type Child, startChild } from "../harness/child.ts";
import { peer } from "../harness/peer.ts";
import { watchCpu, withDescendants } from "../harness/process-stats.ts";
import type { Row } from "../harness/report.ts";
import type { BenchStack } from "../harness/stack.ts";
import { interleave } from "../harness/statistics.ts";
import type { ByteAnswer, UploadPlan } from "../load/bytes.ts";
import { wakeOnce } from "./server-wake.ts";

/** How often a browser asks how far its upload or download is. */
const askEveryMs = 100;
const server = "bench-bytes";
const files = `/api/v1/servers/${server}/files`;
const partBytes = 32 << 20;
const parts = 8;
const bytes = parts * partBytes;
const hops = [
  "gateway-external",
  "gateway-internal",
  "storage",
  "local-cluster",
  "nats",
  "postgres",
  "lifecycle",
] as const;

type Cost = Record<(typeof hops)[number], number> & { seconds: number; all: number };
type BareCost = { seconds: number; all: number };
type Subject = { bench: Bench; stack: BenchStack; block: Uint8Array; sha256: string };

/** What one transfer took, in seconds and in CPU seconds of each process for a gigabyte. */
async function costOf(stack: BenchStack, act: () => Promise<void>): Promise<Cost> {
  const cluster = [stack.pidOf("local-cluster")];
  const atRest = withDescendants(cluster).length;
  const watched = hops.map((hop) => [hop, watchCpu([stack.pidOf(hop)])] as const);
  const startedAt = performance.now();
  await act();
  const seconds = (performance.now() - startedAt) / 1_000;
  await until(() => withDescendants(cluster).length <= atRest, 30_000, "the Job to end");
  const each = Object.fromEntries(watched.map(([hop, cpu]) => [hop, cpu() / 1e6 / (bytes / 1e9)]));
  return { ...each, seconds, all: Object.values(each).reduce((sum, one) => sum + one, 0) } as Cost;
}

async function call<T>(stack: BenchStack, method: string, path: string, body?: unknown): Promise<T> {
  const answer = await stack.external(method, path, body);
  if (answer.status < 300) return answer.body as T;
  throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
}

type Transfer = Pick<UploadPlan, "port" | "path" | "headers">;

async function transfer(
  bench: Bench,
  kind: "upload" | "download",
  plan: Transfer | UploadPlan,
): Promise<void> {
  const answer = await bench.load.ask<ByteAnswer>(kind, plan);
  if (answer.status >= 300) throw new Error(`${plan.path} answered ${answer.status}: ${answer.text}`);
  if (kind === "download" && answer.bytes !== bytes) throw new Error(`${answer.bytes} bytes arrived`);
}

async function uploadFile({ bench, stack, block, sha256 }: Subject): Promise<void> {
  const session = await call<{ id: string }>(stack, "POST", `${files}/uploads?path=world.bin`, {
    size: bytes,
  });
  const path = `${files}/uploads/${session.id}`;
  const digest = Buffer.from(sha256, "hex").toString("base64");
  const headers = {
    ...stack.owner.headers,
    "content-type": "application/octet-stream",
    "content-digest": `sha-256=:${digest}:`,
  };
  for (let offset = 0; offset < bytes; offset += partBytes) {
    const plan = { ...stack.owner, headers, path: `${path}?offset=${offset}`, block, bytes: partBytes };
    await transfer(bench, "upload", plan);
  }
  await call(stack, "POST", `${path}/commit`, { overwrite: true });
  await until(
    async () => {
      await delay(askEveryMs);
      const { ops } = await call<{ ops: { state: string; error?: unknown }[] }>(stack, "GET", `${files}/ops`);
      if (ops[0]?.state === "failed") throw new Error(JSON.stringify(ops[0].error));
      return ops[0]?.state === "succeeded";
    },
    60_000,
    "the upload to be in the world",
  );
}

async function downloadFile({ bench, stack }: Subject): Promise<void> {
  const start = `${files}/download?path=world.bin`;
  const { ticket } = await call<{ ticket: string }>(stack, "POST", start);
  const status = `/api/v1/exports/${ticket}`;
  await until(
    async () => {
      await delay(askEveryMs);
      return (await call<{ state: string }>(stack, "GET", status)).state === "ready";
    },
    60_000,
    "the download to be ready",
  );
  await transfer(bench, "download", { ...stack.owner, path: `${status}/download` });
}

async function bareCostOf(bare: Child, act: (port: number) => Promise<void>): Promise<BareCost> {
  const port = await bare.ask<number>("port");
  const cpu = watchCpu([bare.pid]);
  const startedAt = performance.now();
  await act(port);
  return { seconds: (performance.now() - startedAt) / 1_000, all: cpu() / 1e6 / (bytes / 1e9) };
}

async function bareUpload({ bench, block }: Subject, bare: Child, port: number): Promise<void> {
  const headers = { "content-type": "application/octet-stream" };
  for (let index = 0; index < parts; index += 1) {
    await transfer(bench, "upload", { port, path: `/files/part-${index}`, headers, block, bytes: partBytes });
  }
  await bare.ask("assemble", parts);
}

type Measured = { ours: Cost; bare: BareCost };
type Against = { theirs: { megabytesPerSecond: number; cpuSecondsPerGb: number }; mostCpu: number };

function rowsOf(what: string, { ours, bare }: Measured, { theirs, mostCpu }: Against): Row[] {
  const each = hops.filter((hop) => ours[hop] >= 0.05).map((hop) => `${hop} ${ours[hop].toFixed(1)}`);
  const megabytes = bytes / 1e6;
  return [
    {
      goal: "G24",
      what,
      unit: "MB/s",
      ours: megabytes / ours.seconds,
      anchor: megabytes / bare.seconds,
      anchorName: "one Fastify process",
      peer: theirs.megabytesPerSecond,
      limit: { bound: "at least", of: "peer", goal: 1, stretch: 2 },
    },
    {
      goal: "G24",
      what: `${what}, CPU of all processes`,
      unit: "s/GB",
      ours: ours.all,
      anchor: bare.all,
      anchorName: "one Fastify process",
      peer: theirs.cpuSecondsPerGb,
      limit: { bound: "at most", of: "figure", goal: mostCpu },
      note: each.join(", "),
    },
  ];
}

export const fileBytes: Goal = {
  name: "G24",
  covers: ["PEER"],
  title: "a file through the gateways into a world and out of it",
  run: async (bench) => {
    const stack = await bench.stack();
    await stack.ensureServer(server);
    // Its first run makes the volume.
    await wakeOnce(stack, server);
    const base = await mkdtemp(join(tmpdir(), "svc-bench-bytes-"));
    const bare = await startChild("anchors/transfers.ts", { logDir: base, env: { BENCH_BASE: base } });
    try {
      const block = randomBytes(partBytes);
      const subject = { bench, stack, block, sha256: createHash("sha256").update(block).digest("hex") };
      const found = await interleave<string, Cost | BareCost>(bench.options.rounds, {
        up: () => costOf(stack, () => uploadFile(subject)),
        bareUp: () => bareCostOf(bare, (port) => bareUpload(subject, bare, port)),
        bareDown: () =>
          bareCostOf(bare, (port) =>
            transfer(bench, "download", { port, path: "/files/whole", headers: {} }),
          ),
        down: () => costOf(stack, () => downloadFile(subject)),
      });
      const pick = (ours: string, anchor: string) =>
        ({ ours: found[ours], bare: found[anchor] }) as unknown as Measured;
      return [
        ...rowsOf("upload of 256 MB until it is in the world", pick("up", "bareUp"), {
          theirs: peer.upload,
          mostCpu: 12,
        }),
        ...rowsOf("download of 256 MB from its request", pick("down", "bareDown"), {
          theirs: peer.download,
          mostCpu: 5,
        }),
      ];
    } finally {
      await bare.stop();
      await rm(base, { recursive: true, force: true });
    }
  },
};
