// What the simulation costs: processor and memory of each process, stalls of its event loop, what NATS and PostgreSQL store.

import { setTimeout as pause } from "node:timers/promises";
import { connect } from "@nats-io/transport-node";
import { until } from "@svc/local-stack/testing";
import pg from "pg";
import { proportionalMb, residentMb, watchCpu, withDescendants } from "../bench/harness/process-stats.ts";
import type { BenchStack } from "../bench/harness/stack.ts";

export type Use = {
  name: string;
  cores: number;
  /** At the end; of PostgreSQL the sum of all its processes, pages they share counted once. */
  residentMb: number;
  peakMb: number;
  /** Longest wait for an answer of its health port, which its event loop gives between two pieces of work. */
  stallMs: number;
  restarts: number;
};

export type Stores = {
  streams: { name: string; messages: number; bytes: number; lastSequence: number }[];
  databaseMb: number;
  walMb: number;
  transactions: number;
  connections: number;
};

const probeEveryMs = 250;
const sampleEveryMs = 1_000;
const probeLimitMs = 20_000;

const memoryOf = (name: string, pid: number) =>
  name === "postgres"
    ? withDescendants([pid]).reduce((sum, one) => sum + proportionalMb(one), 0)
    : residentMb(pid);

type Watched = Use & { pid: number; cpu: () => number };

/** Watches every process of the stack until it is asked. */
export function watchUse(stack: BenchStack): () => Promise<Use[]> {
  const startedAt = performance.now();
  const ending = new AbortController();
  const watched = stack.file().processes.map(
    ({ name, pid }): Watched => ({
      ...{ name, pid, cores: 0, residentMb: 0, peakMb: 0, stallMs: 0, restarts: 0 },
      cpu: watchCpu([pid]),
    }),
  );
  const running = [
    repeat(sampleEveryMs, ending.signal, async () => sample(stack, watched)),
    ...stack
      .file()
      .processes.map(({ name }) => repeat(probeEveryMs, ending.signal, () => probe(stack, watched, name))),
  ];
  return async () => {
    ending.abort();
    await Promise.all(running);
    sample(stack, watched);
    const micros = (performance.now() - startedAt) * 1_000;
    return watched.map(({ pid: _pid, cpu, ...use }) => ({ ...use, cores: cpu() / micros }));
  };
}

async function repeat(everyMs: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    // A process that is started again answers the next time.
    await work().catch(() => undefined);
    await pause(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

function sample(stack: BenchStack, watched: readonly Watched[]): void {
  for (const one of watched) {
    const pid = stack.file().processes.find(({ name }) => name === one.name)?.pid ?? one.pid;
    if (pid !== one.pid) {
      one.pid = pid;
      one.restarts += 1;
      const [before, now] = [one.cpu(), watchCpu([pid])];
      one.cpu = () => before + now();
    }
    one.residentMb = memoryOf(one.name, pid);
    one.peakMb = Math.max(one.peakMb, one.residentMb);
  }
}

async function probe(stack: BenchStack, watched: readonly Watched[], name: string): Promise<void> {
  const metrics = stack.file().processes.find((one) => one.name === name)?.metrics;
  const one = watched.find((process) => process.name === name);
  if (metrics === undefined || one === undefined) return;
  const askedAt = performance.now();
  await fetch(new URL("/healthz", metrics), { signal: AbortSignal.timeout(probeLimitMs) })
    .then((answer) => answer.arrayBuffer())
    .catch(() => undefined);
  one.stallMs = Math.max(one.stallMs, performance.now() - askedAt);
}

/** Waits until lifecycle has no server left to pass over, twice in a row. */
export async function untilAllPassed(stack: BenchStack, timeoutMs: number): Promise<void> {
  const metrics = stack.file().processes.find(({ name }) => name === "lifecycle")?.metrics ?? "";
  let rests = 0;
  await until(
    async () => {
      const text = await (await fetch(metrics)).text();
      rests = Number(/^svc_reconcile_queue_depth (\S+)$/m.exec(text)?.[1] ?? 1) === 0 ? rests + 1 : 0;
      await pause(2_000);
      return rests >= 2;
    },
    timeoutMs,
    "lifecycle to have passed over all servers",
  );
}

/** How long a scrape of a service takes, and its bytes. */
export async function scrape(stack: BenchStack, name: string): Promise<{ ms: number; bytes: number }> {
  const metrics = stack.file().processes.find((one) => one.name === name)?.metrics ?? "";
  const askedAt = performance.now();
  const text = await (await fetch(metrics)).text();
  return { ms: performance.now() - askedAt, bytes: text.length };
}

export async function readStores(stack: BenchStack): Promise<Stores> {
  const streams = await readStreams(stack);
  const client = new pg.Client({ connectionString: stack.file().database_url });
  await client.connect();
  try {
    const { rows } = await client.query<Record<"bytes" | "wal" | "transactions" | "connections", string>>(
      `select pg_database_size(current_database()) as bytes,
         pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal,
         (select sum(xact_commit + xact_rollback) from pg_stat_database) as transactions,
         (select count(*) from pg_stat_activity where backend_type = 'client backend') as connections`,
    );
    const [row] = rows;
    return {
      streams,
      databaseMb: Number(row?.bytes) / 1e6,
      walMb: Number(row?.wal) / 1e6,
      transactions: Number(row?.transactions),
      connections: Number(row?.connections),
    };
  } finally {
    await client.end();
  }
}

type StreamList = {
  streams?: { config: { name: string }; state: { messages: number; bytes: number; last_seq: number } }[];
};

async function readStreams(stack: BenchStack): Promise<Stores["streams"]> {
  const url = new URL(stack.file().nats_url);
  const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  const client = await connect({ servers: url.host, user, pass, inboxPrefix: `_INBOX_${user}` });
  try {
    const answer = (await client.request("$JS.API.STREAM.LIST", "{}")).json<StreamList>();
    return (answer.streams ?? []).map(({ config, state }) => ({
      name: config.name,
      messages: state.messages,
      bytes: state.bytes,
      lastSequence: state.last_seq,
    }));
  } finally {
    await client.close();
  }
}
