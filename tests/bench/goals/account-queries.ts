// ACCOUNTS: identity on a large installation (issue of identity): 100,000 users and 1,000,000 audit rows in a durable
// PostgreSQL, searched as the owner does, sessions looked up by ones that were not asked for before, and people who
// sign in with the code they were mailed. Everything is identity's own code and SQL; the bus is measured elsewhere.

import type { Goal } from "../harness/bench.ts";
import { interleave } from "../harness/statistics.ts";

type Found = { usersMs: number; auditMs: number; sessionMs: number };

export const accountQueries: Goal = {
  name: "ACCOUNTS",
  title: "users, sessions and the audit log at their largest",
  run: async (bench) => {
    const fixture = await bench.fixture();
    const child = await fixture.accounts();
    bench.say("filling 100,000 users and a million audit rows");
    await child.ask("prepare", { entries: bench.options.isQuick ? 100_000 : 1_000_000 });
    const times = bench.options.isQuick ? 40 : 200;
    const count = bench.options.isQuick ? 100 : 1_000;
    await child.ask("search", { times: 20 });
    let from = 0;
    const { search } = await interleave(bench.options.rounds, {
      search: () => child.ask<Found>("search", { times }),
    });
    const { signIn } = await interleave(bench.options.rounds, {
      signIn: async () => {
        const answer = await child.ask<{ perSecond: number }>("signIns", { from, count });
        from += count;
        return answer;
      },
    });
    await child.stop();
    const row = { goal: "ACCOUNTS", unit: "ms" } as const;
    const below = (goal: number) => ({ bound: "at most", of: "figure", goal }) as const;
    return [
      { ...row, what: "user search, p95", ours: search.usersMs, limit: below(50) },
      { ...row, what: "audit search, p95", ours: search.auditMs, limit: below(50) },
      { ...row, what: "session resolved, p95", ours: search.sessionMs, limit: below(2) },
      {
        goal: "ACCOUNTS",
        what: "sign-ins with a code",
        unit: "/s",
        ours: signIn.perSecond,
        limit: { bound: "at least", of: "figure", goal: 200 },
      },
    ];
  },
};
