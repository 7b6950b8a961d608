// BUILD: a player's pack on its way to an image.
// The context: digest, check of every entry and extraction against `tar -xzf` of the same file; the tool checks nothing.
// The upload: parts through the gateways until they are staged, against parts of a file for a world, which the same
// gateways take; the archive is checked at its end, which the row of the extraction tells.
// The list: a page of the newest builds among 1,000 against the same page of 50, as G6 does with servers.
// The pipeline: from the request of a build to its end, against the steps `build`, `scan`, `sbom` and `push` alone as their
// containers ran them: what is left is the queue, the Job, its other steps and the record of it all.

import { createHash, randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { until } from "@svc/local-stack/testing";
import { startPackMaker } from "../../flow/pack.ts";
import { send } from "../../flow/stack.ts";
import { runSql } from "../harness/anchors.ts";
import { type Bench, type Goal, measure, type Target, warm } from "../harness/bench.ts";
import type { Row } from "../harness/report.ts";
import type { BenchStack } from "../harness/stack.ts";
import { interleave, interleaveSamples, median, pairedRates } from "../harness/statistics.ts";
import { startWorldArena } from "../harness/synthetic-world.ts";
import type { ByteAnswer } from "../load/bytes.ts";
import { buildLogRows } from "./build-logs.ts";
import { wakeOnce } from "./server-wake.ts";

const goal = "BUILD";
const partBytes = 32 << 20;
const parts = 4;
const server = "bench-build";
const mine = "/api/v1/me/submissions";

/** Fewer pairs than these are not judged. */
const roundsOf = ({ options: { rounds, isQuick } }: Bench) => (isQuick ? rounds : Math.max(10, rounds));

async function contextRows(bench: Bench): Promise<Row[]> {
  const world = await startWorldArena(bench);
  try {
    await world.shell("echo FROM scratch >Dockerfile && tar -c Dockerfile world | gzip -1 >context.tar.gz");
    const found = await interleaveSamples(roundsOf(bench), {
      ours: () => world.ours<{ seconds: number }>("unpackContext"),
      tar: () => world.shell("mkdir bare && tar -xzf context.tar.gz -C bare", "bare"),
    });
    return [
      {
        goal,
        what: "digest, check and extraction of a context",
        unit: "MB/s",
        ...pairedRates(world.megabytes, { ours: found.ours, anchor: found.tar }),
        anchorName: "tar xzf",
        limit: { bound: "at least", of: "ratio", goal: 0.6 },
      },
    ];
  } finally {
    await world.stop();
  }
}

async function call<T>(stack: BenchStack, [method, path]: [string, string], body?: unknown): Promise<T> {
  const answer = await stack.external(method, path, body);
  if (answer.status < 300) return answer.body as T;
  throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
}

async function putParts(bench: Bench, stack: BenchStack, path: string): Promise<{ seconds: number }> {
  // Begins like gzip; only the end of an upload looks at the rest.
  const block = Buffer.concat([Buffer.from([0x1f, 0x8b]), randomBytes(partBytes - 2)]);
  const digest = createHash("sha256").update(block).digest("base64");
  const headers = {
    ...stack.owner.headers,
    "content-type": "application/octet-stream",
    "content-digest": `sha-256=:${digest}:`,
  };
  const startedAt = performance.now();
  for (let offset = 0; offset < parts * partBytes; offset += partBytes) {
    const plan = { ...stack.owner, headers, path: `${path}?offset=${offset}`, block, bytes: partBytes };
    const answer = await bench.load.ask<ByteAnswer>("upload", plan);
    if (answer.status >= 300) throw new Error(`${path} answered ${answer.status}: ${answer.text}`);
  }
  return { seconds: (performance.now() - startedAt) / 1_000 };
}

/** A new submission, once the account may make another one. */
function submitted(stack: BenchStack): Promise<{ id: string }> {
  return until(
    async () => {
      const answer = await stack.external("POST", mine, { display_name: "bench" });
      return answer.status === 201 ? (answer.body as { id: string }) : undefined;
    },
    60_000,
    "a submission",
  );
}

async function uploadRows(bench: Bench, stack: BenchStack): Promise<Row[]> {
  await stack.ensureServer(server);
  // Its first run makes the volume.
  await wakeOnce(stack, server);
  const uploads = `/api/v1/servers/${server}/files/uploads`;
  const found = await interleaveSamples(roundsOf(bench), {
    ours: async () => {
      const { id } = await submitted(stack);
      const took = await putParts(bench, stack, `${mine}/${id}/context/upload`);
      await call(stack, ["DELETE", `${mine}/${id}`]);
      return took;
    },
    storage: async () => {
      const size = parts * partBytes;
      const session = await call<{ id: string }>(stack, ["POST", `${uploads}?path=bench.bin`], { size });
      const took = await putParts(bench, stack, `${uploads}/${session.id}`);
      await call(stack, ["DELETE", `${uploads}/${session.id}`]);
      return took;
    },
  });
  return [
    {
      goal,
      what: "upload of a context in parts, staged",
      unit: "MB/s",
      ...pairedRates((parts * partBytes) / 1e6, { ours: found.ours, anchor: found.storage }),
      anchorName: "parts of a world's file",
      limit: { bound: "at least", of: "ratio", goal: 0.9 },
    },
  ];
}

async function fillBuilds(stack: BenchStack, count: number): Promise<void> {
  await runSql(
    stack.file().database_url,
    `insert into builds.image_builds (id, image_ref, status, context_ref, requested_by, finished_at)
     select md5(random()::text), 'bench/pack-' || n || ':latest', 'succeeded', 'http://bench', 'bench', now()
     from generate_series(1, ${count}) n`,
  );
}

async function listRows(bench: Bench, stack: BenchStack): Promise<Row[]> {
  const pids = ["gateway-external", "builds", "identity", "postgres", "nats"].map((name) =>
    stack.pidOf(name),
  );
  const page: Target = { ...stack.owner, path: "/api/v1/images/build?limit=50", pids };
  const sample = async (more: number) => {
    await fillBuilds(stack, more);
    await warm(bench, page);
    return (await interleave(bench.options.rounds, { page: () => measure(bench, page, 10) })).page;
  };
  const [few, many] = [await sample(50), await sample(950)];
  return [
    {
      goal,
      what: "page of 50 of 1,000 builds, c10, p99",
      unit: "ms",
      ours: many.p99Ms,
      anchor: few.p99Ms,
      anchorName: "of 50 builds",
      limit: { bound: "at most", of: "ratio", goal: 1.3 },
      note: `${many.rps.toFixed(0)} rps, ${many.cpuUs.toFixed(0)} us, of 50 ${few.cpuUs.toFixed(0)} us`,
    },
  ];
}

type Step = { name: string; startedAt?: string; finishedAt?: string };
type Build = {
  status: string;
  error?: string;
  created_at: string;
  finished_at?: string;
  progress?: { steps: Step[] };
};

const secondsBetween = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 1_000;

/** A build of a pack from its approval; what it took, and what the steps that do the work took of that. */
async function buildOnce(stack: BenchStack, packed: Buffer): Promise<{ whole: number; work: number }> {
  const { id } = await submitted(stack);
  const { owner, file } = stack;
  const digest = createHash("sha256").update(packed);
  const hex = digest.copy().digest("hex");
  const headers = {
    ...owner.headers,
    "content-type": "application/gzip",
    "content-digest": `sha-256=:${digest.digest("base64")}:`,
  };
  const url = new URL(`${mine}/${id}/context`, file().external_base_url).href;
  const uploaded = await send(url, { method: "POST", headers, body: packed });
  if (uploaded.status >= 300) throw new Error(`the upload answered ${JSON.stringify(uploaded.body)}`);
  const review = `/api/v1/submissions/${id}/approve`;
  const { build_id } = await call<{ build_id: string }>(stack, ["POST", review], { expected_digest: hex });
  const build = await until(
    async () => {
      await delay(100);
      const found = await call<Build>(stack, ["GET", `/api/v1/images/build/${build_id}`]);
      return found.finished_at === undefined ? undefined : found;
    },
    120_000,
    "the build",
  );
  if (build.status !== "succeeded") throw new Error(`the build ended as ${build.status}: ${build.error}`);
  const working = (build.progress?.steps ?? []).filter(({ name }) => /^(build|scan|sbom|push)$/.test(name));
  const work = working.reduce(
    (sum, { startedAt, finishedAt }) => sum + secondsBetween(startedAt ?? "", finishedAt ?? ""),
    0,
  );
  return { whole: secondsBetween(build.created_at, build.finished_at ?? ""), work };
}

async function pipelineRows(bench: Bench, stack: BenchStack): Promise<Row[]> {
  const { registry } = stack.file();
  if (registry === undefined) {
    bench.say("BUILD: the stack has no registry; the pipeline is not measured");
    return [];
  }
  await using packs = await startPackMaker();
  const dockerfile = `FROM ${registry.host}/svc/demo-server:1.21.4\nCOPY world /data/world\n`;
  const { bytes } = await packs.pack(dockerfile, {});
  const found: { whole: number; work: number }[] = [];
  for (let round = 0; round < bench.options.rounds; round += 1) found.push(await buildOnce(stack, bytes));
  const overhead = found.map(({ whole, work }) => whole - work);
  return [
    {
      goal,
      what: "pipeline besides builder, scanner and push",
      unit: "s",
      ours: median(overhead),
      limit: { bound: "at most", of: "figure", goal: 5 },
      note: `whole build ${median(found.map(({ whole }) => whole)).toFixed(1)} s; Kubernetes tells steps in whole seconds`,
    },
  ];
}

export const builds: Goal = {
  name: goal,
  title: "image builds: context, log, memory, upload, list, pipeline",
  run: async (bench) => {
    const context = await contextRows(bench);
    const logs = await buildLogRows(bench);
    const stack = await bench.stack();
    return [
      ...context,
      ...logs,
      ...(await uploadRows(bench, stack)),
      ...(await pipelineRows(bench, stack)),
      ...(await listRows(bench, stack)),
    ];
  },
};
