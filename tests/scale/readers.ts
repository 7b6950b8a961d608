// Those who only look: proxies that poll the list, operators with a page of the fleet, owners with their own servers.

import { setTimeout as pause } from "node:timers/promises";
import type { Child } from "../bench/harness/child.ts";
import type { BenchStack } from "../bench/harness/stack.ts";
import { quantile } from "../bench/harness/statistics.ts";
import type { Answer } from "../bench/load/http.ts";
import { ownerOf } from "./fleet.ts";

export type ListTimes = {
  what: string;
  asked: number;
  failed: number;
  unchanged: number;
  p50Ms: number;
  p99Ms: number;
  bytes: number;
};

type Request = { port: number; headers: Record<string, string>; path: string };
type Reader = { what: string; everyMs: number; next: (turn: number) => Request; keepsTag?: boolean };

const pageSize = 50;

function readersOf(stack: BenchStack, count: number, owners: number): Reader[] {
  const { proxy, owner: staff } = stack;
  const fleet = (query: string) => ({ ...staff, path: `/api/v1/fleet?${query}` });
  const page = (turn: number) => `limit=${pageSize}&offset=${(turn * 7_919) % Math.max(1, count - pageSize)}`;
  return [
    // Five proxies that poll every 15 s each (docs/reference/proxy.md).
    {
      what: "proxy: all servers",
      everyMs: 3_000,
      next: () => ({ ...proxy, path: "/api/v1/servers" }),
      keepsTag: true,
    },
    {
      what: "proxy: status of one server",
      everyMs: 100,
      next: (turn) => ({ ...proxy, path: `/api/v1/internal/servers/${nameAt(turn, count)}/status` }),
    },
    {
      what: "operator: page of 50",
      everyMs: 1_000,
      next: (turn) => fleet(page(turn)),
    },
    {
      what: "operator: those that run, first page",
      everyMs: 2_000,
      next: () => fleet(`limit=${pageSize}&filter=awake&sort=players`),
    },
    {
      what: "operator: search",
      everyMs: 2_000,
      next: (turn) => fleet(`limit=${pageSize}&query=${String(turn % 1_000).padStart(3, "0")}`),
    },
    {
      what: "owner: /me/servers",
      everyMs: 200,
      next: (turn) => ({ ...ownerOf(stack, (turn * 7_919) % owners), path: "/api/v1/me/servers" }),
    },
  ];
}

const nameAt = (turn: number, count: number) => `bench-${String((turn * 7_919) % count).padStart(5, "0")}`;

/** Reads until the signal and answers how long each kind of list took. */
export async function readLists(
  { stack, load, count, owners }: { stack: BenchStack; load: Child; count: number; owners: number },
  signal: AbortSignal,
): Promise<ListTimes[]> {
  return Promise.all(readersOf(stack, count, owners).map(async (reader) => readOn(reader, load, signal)));
}

async function readOn(reader: Reader, load: Child, signal: AbortSignal): Promise<ListTimes> {
  const took: number[] = [];
  let [failed, unchanged, bytes, tag] = [0, 0, 0, ""];
  for (let turn = 1; !signal.aborted; turn += 1) {
    const { headers, ...request } = reader.next(turn);
    const known = reader.keepsTag && tag !== "" ? { "if-none-match": tag } : {};
    const plan = { host: "127.0.0.1", method: "GET", ...request, headers: { ...headers, ...known } };
    const answer = await load.ask<Answer>("once", plan).catch(() => undefined);
    if (answer?.status === 304) unchanged += 1;
    else if (answer?.status === 200) bytes = Math.max(bytes, answer.bytes);
    else failed += 1;
    if (answer) took.push(answer.ms);
    tag = /\r\netag: *([^\r]+)/i.exec(answer?.head ?? "")?.[1] ?? tag;
    await pause(reader.everyMs, undefined, { signal }).catch(() => undefined);
  }
  const sorted = Float64Array.from(took).sort();
  return {
    what: reader.what,
    asked: took.length,
    failed,
    unchanged,
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    bytes,
  };
}
