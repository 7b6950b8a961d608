// G28: refusing malformed input costs less than the valid request that it resembles. Ours: the real external gateway,
// with the budget of malformed sign-ins set out of reach, for otherwise most would be refused unread. The valid requests
// go to a stand-in of identity that answers at once: what a database would add is left out, in their favour.
// CPU is that of gateway, nats-server and identity.

import { type Bench, type Goal, measure, type Target, warm } from "../harness/bench.ts";
import type { Fixture } from "../harness/fixture.ts";
import { peer } from "../harness/peer.ts";
import type { Row } from "../harness/report.ts";
import { interleave } from "../harness/statistics.ts";

const connections = 10;
const valid = JSON.stringify({ email: "nobody@example.net" });
const malformed = '{"email": "nobody@example.net"';
const unknownField = JSON.stringify({ email: "nobody@example.net", admin: true });

function targets({ external, natsPid, identity, cookie }: Fixture) {
  const pids = [external.pid, natsPid, identity.pid];
  const post = (path: string, headers: Record<string, string>) => {
    const target = (body: string, expectStatus: number): Target => ({
      ...{ port: external.port, method: "POST", path, headers, body, expectStatus, pids },
    });
    return target;
  };
  const door = post("/api/v1/auth/options", {});
  const session = post("/api/v1/account/email/start", { cookie });
  return {
    door: door(valid, 200),
    doorMalformed: door(malformed, 400),
    session: session(valid, 202),
    sessionMalformed: session(malformed, 400),
    sessionUnknown: session(unknownField, 400),
  };
}

async function rowsOf(bench: Bench, fixture: Fixture): Promise<Row[]> {
  const all = targets(fixture);
  await warm(bench, all.door);
  await warm(bench, all.doorMalformed);
  await warm(bench, all.session);
  const found = await interleave(bench.options.rounds, {
    door: () => measure(bench, all.door, connections),
    doorMalformed: () => measure(bench, all.doorMalformed, connections),
    session: () => measure(bench, all.session, connections),
    sessionMalformed: () => measure(bench, all.sessionMalformed, connections),
    sessionUnknown: () => measure(bench, all.sessionUnknown, connections),
  });
  const cpu = { goal: "G28", unit: "us", anchorName: "the valid request" } as const;
  const limit = { bound: "at most", of: "ratio", goal: 1 } as const;
  return [
    {
      ...{ ...cpu, what: "malformed JSON at a sign-in endpoint, CPU", limit },
      ...{ ours: found.doorMalformed.cpuUs, anchor: found.door.cpuUs, peer: peer.malformedSignIn.cpuUs },
    },
    {
      ...{ goal: "G28", unit: "rps", what: "malformed JSON at a sign-in endpoint, c10" },
      ...{ ours: found.doorMalformed.rps, peer: peer.malformedSignIn.rps },
      limit: { bound: "at least", of: "peer", goal: 1 },
    },
    {
      ...{ ...cpu, what: "malformed JSON with a session, CPU", limit },
      ...{ ours: found.sessionMalformed.cpuUs, anchor: found.session.cpuUs },
    },
    {
      ...{ ...cpu, what: "an unknown field with a session, CPU", limit },
      ...{ ours: found.sessionUnknown.cpuUs, anchor: found.session.cpuUs },
    },
  ];
}

export const malformedInput: Goal = {
  name: "G28",
  covers: ["PEER"],
  title: "refusing malformed input",
  run: async (bench) => rowsOf(bench, await bench.fixture()),
};
