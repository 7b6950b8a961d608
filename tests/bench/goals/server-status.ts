// G3: the status of one server on the external face with a session.
// Ours: GET /api/v1/servers/{name}/status of a running stack as `svc up` starts it: the gateway answers from its kept view
// and asks nobody, which is why it is far ahead. Anchor P3, what asking costs: P2 and a point query with kysely in the
// responder, in the same PostgreSQL, 10,000 rows. The CPU of PostgreSQL counts on both sides.
// Queries on this path are counted in PostgreSQL's own log over some requests, by application name; the session is
// remembered by the gateway for at most 5 s, so identity's query shows as a small fraction.

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { until } from "@svc/local-stack/testing";
import { runSql } from "../harness/anchors.ts";
import type { Bench, Goal, Target } from "../harness/bench.ts";
import { measure, warm } from "../harness/bench.ts";
import type { BenchStack } from "../harness/stack.ts";
import { interleave } from "../harness/statistics.ts";

const name = "bench-status";
const path = `/api/v1/servers/${name}/status`;
const counted = 200;

async function queriesPerRequest(bench: Bench, stack: BenchStack, target: Target): Promise<number> {
  const url = stack.file().database_url;
  const log = join(stack.dir, "logs", "postgres.log");
  const from = statSync(log).size;
  const added = () => readFileSync(log, "utf8").slice(from);
  const set = async (statements: string, prefix: string) => {
    await runSql(url, `alter system set log_line_prefix = '${prefix}'`);
    await runSql(url, `alter system set log_statement = '${statements}'`);
    await runSql(url, "select pg_reload_conf()");
  };
  await set("all", "%a ");
  await until(
    async () => {
      await runSql(url, "select 'bench-marker-begin'");
      return added().includes("bench-marker-begin");
    },
    10_000,
    "PostgreSQL to log statements",
  );
  const before = added().length;
  await measure(bench, target, 1, { windowMs: 60_000, requests: counted });
  const lines = added().slice(before).split("\n");
  await set("none", "%m [%p] ");
  const ours = lines.filter((line) => /^svc-(lifecycle|identity) LOG: {2}(execute|statement)/.test(line));
  const background = ours.filter((line) => /outbox/.test(line)).length;
  return (ours.length - background) / counted;
}

export const serverStatus: Goal = {
  name: "G3",
  title: "status of one server, against asking PostgreSQL",
  run: async (bench) => {
    const stack = await bench.stack();
    await stack.ensureServer(name);
    const anchors = await stack.anchors();
    const pid = stack.pidOf;
    const ours: Target = {
      ...stack.owner,
      path,
      pids: [pid("gateway-external"), pid("lifecycle"), pid("identity"), pid("nats"), pid("postgres")],
    };
    const p3: Target = {
      port: anchors.gateway.port,
      path: "/p3/bench-05000",
      headers: {},
      pids: [anchors.gateway.pid, anchors.responder.pid, anchors.natsPid, pid("postgres")],
    };
    await until(
      async () => (await stack.external("GET", path)).status === 200,
      10_000,
      "the new server's status",
    );
    await warm(bench, ours);
    await warm(bench, p3);
    const queries = await queriesPerRequest(bench, stack, ours);
    const at = (callers: number) =>
      interleave(bench.options.rounds, {
        ours: () => measure(bench, ours, callers),
        p3: () => measure(bench, p3, callers),
      });
    const [at1, at10] = [await at(1), await at(10)];
    const row = { goal: "G3", anchorName: "P3" };
    const cpu = `CPU ${at10.ours.cpuUs.toFixed(0)} us a request, P3 ${at10.p3.cpuUs.toFixed(0)}`;
    return [
      {
        ...row,
        what: "status with session, c1, p50",
        unit: "ms",
        ours: at1.ours.p50Ms,
        anchor: at1.p3.p50Ms,
        limit: { bound: "at most", of: "ratio", goal: 1.3 },
      },
      {
        ...row,
        what: "status with session, c10",
        unit: "rps",
        ours: at10.ours.rps,
        anchor: at10.p3.rps,
        limit: { bound: "at least", of: "ratio", goal: 0.6, stretch: 1 },
        note: cpu,
      },
      {
        goal: "G3",
        what: "queries on this path",
        unit: "per request",
        ours: queries,
        limit: { bound: "at most", of: "figure", goal: 1.05 },
      },
    ];
  },
};
