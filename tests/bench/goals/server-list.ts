// G5: the proxy's poll, GET /api/v1/servers with 10,000 servers.
// Ours: the shipped gateway-internal with a mirror of the `servers` view, which a stand-in of lifecycle writes through
// libs/mesh. Anchors: bare Fastify with the same number of bytes kept in a Buffer, and its 304; for the first answer
// after a change, bare pages with zod over the bus (1000 a page, four at once) encoded anew.
// The 304 is so cheap that waking a sleeping load generator would be half of its cost, and only for the slower side; so
// the generator stays awake there, for both.
// After a change the gateway may go on with what it has for a second; measured is the request that meets the new
// version, found by If-None-Match. "Never one 4 MB bus message" holds by construction: NATS refuses above 1 MiB.

import { until } from "@svc/local-stack/testing";
import type { Bench, Goal, Target } from "../harness/bench.ts";
import { measure, warm } from "../harness/bench.ts";
import type { Fixture } from "../harness/fixture.ts";
import type { Row } from "../harness/report.ts";
import { interleave, median } from "../harness/statistics.ts";
import type { Answer } from "../load/http.ts";

const count = 10_000;
const path = "/api/v1/servers";
const rebuildMs = 1_100;

function etagOf(answer: Answer): string {
  return /\r\netag: *([^\r]+)/i.exec(`\r\n${answer.head}`)?.[1] ?? "";
}

function poll(bench: Bench, fixture: Fixture, etag?: string): Promise<Answer> {
  const headers = { authorization: fixture.authorization, ...(etag && { "if-none-match": etag }) };
  const plan = { host: "127.0.0.1", port: fixture.internal.port, method: "GET", path, headers };
  return bench.load.ask<Answer>("once", plan);
}

/** Latency of the request that meets a new version, for `times` changes of one server. */
async function rebuilds(
  bench: Bench,
  fixture: Fixture,
  times: number,
): Promise<{ ms: number; visibleMs: number }[]> {
  let etag = etagOf(await poll(bench, fixture));
  const found: { ms: number; visibleMs: number }[] = [];
  for (let turn = 0; turn < times; turn += 1) {
    await new Promise((wake) => setTimeout(wake, rebuildMs));
    const changedAt = performance.now();
    await fixture.lifecycle.ask("change", { index: turn * 7, players: 10 + turn });
    const fresh = await until(
      async () => {
        const answer = await poll(bench, fixture, etag);
        return answer.status === 200 ? answer : undefined;
      },
      10_000,
      "a changed list",
    );
    found.push({ ms: fresh.ms, visibleMs: performance.now() - changedAt });
    etag = etagOf(fresh);
  }
  return found;
}

async function keptRows(bench: Bench, fixture: Fixture, etag: string): Promise<Row[]> {
  const lists = await fixture.anchors.lists();
  const headers = { authorization: fixture.authorization };
  const ours: Target = { port: fixture.internal.port, path, headers, pids: [fixture.internal.pid] };
  const bare: Target = { port: lists.port, path: "/kept", headers: {}, pids: [lists.pid] };
  const same = { headers: { ...headers, "if-none-match": etag }, expectStatus: 304 };
  const bareSame = { headers: { "if-none-match": lists.tag }, expectStatus: 304 };
  await warm(bench, ours);
  await warm(bench, bare);
  const found = await interleave(bench.options.rounds, {
    ours: () => measure(bench, ours, 10),
    bare: () => measure(bench, bare, 10),
    oursSame: () => measure(bench, { ...ours, ...same, isAwake: true }, 100),
    bareSame: () => measure(bench, { ...bare, ...bareSame, isAwake: true }, 100),
  });
  await lists.stop();
  return [
    {
      goal: "G5",
      what: "list of 10,000 from kept bytes, CPU",
      unit: "us",
      ours: found.ours.cpuUs,
      anchor: found.bare.cpuUs,
      anchorName: "Fastify kept bytes",
      limit: { bound: "at most", of: "ratio", goal: 2 },
      note: `${found.ours.rps.toFixed(0)} rps, bare ${found.bare.rps.toFixed(0)}`,
    },
    {
      goal: "G5",
      what: "unchanged list, 304, CPU",
      unit: "us",
      ours: found.oursSame.cpuUs,
      anchor: found.bareSame.cpuUs,
      anchorName: "Fastify 304",
      limit: { bound: "at most", of: "ratio", goal: 2 },
      note: `${found.oursSame.rps.toFixed(0)} rps, bare ${found.bareSame.rps.toFixed(0)}`,
    },
  ];
}

export const serverList: Goal = {
  name: "G5",
  title: "list of 10,000 servers",
  run: async (bench) => {
    const fixture = await bench.fixture();
    await fixture.lifecycle.ask("fill", count);
    const first = await until(
      async () => {
        const answer = await poll(bench, fixture);
        return answer.bytes > count * 300 ? answer : undefined;
      },
      20_000,
      "the mirror of the gateway",
    );
    const rows = await keptRows(bench, fixture, etagOf(first));
    const changed = await rebuilds(bench, fixture, bench.options.isQuick ? 3 : 8);
    const pages: Target = {
      port: fixture.anchors.gateway.port,
      path: "/list",
      headers: {},
      pids: [fixture.anchors.gateway.pid, fixture.anchors.responder.pid, fixture.natsPid],
    };
    const anchor = await measure(bench, pages, 1);
    await fixture.lifecycle.ask("fill", 0);
    const ours = median(changed.map(({ ms }) => ms));
    const shared = { goal: "G5", unit: "ms", ours };
    return [
      ...rows,
      {
        ...shared,
        what: "first answer after a change, p50",
        limit: { bound: "at most", of: "figure", goal: 120, stretch: 60 },
        note: `seen ${median(changed.map(({ visibleMs }) => visibleMs)).toFixed(0)} ms after the change`,
      },
      {
        ...shared,
        what: "the same against pages with zod",
        anchor: anchor.p50Ms,
        anchorName: "pages with zod",
        limit: { bound: "at most", of: "ratio", goal: 1.5 },
      },
    ];
  },
};
