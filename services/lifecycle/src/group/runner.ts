// The shell around the decisions on runs: observe, decide, act. Every write is a compare-and-set, so a replica that leads
// no longer, or dies in the middle, does no harm: another one goes on.

import { createSemaphore } from "@svc/service/semaphore";
import type { Logger } from "@svc/telemetry";
import { hasRight } from "../access/assert.ts";
import { servers as resource, type Server } from "../cluster/resource.ts";
import type { ServerDeps } from "../server/deps.ts";
import { askServer } from "./ask.ts";
import { type Answer, decide, type Observed, type Plan, withAnswers } from "./decide.ts";
import { type RunRow, toRun } from "./row.ts";
import type { FoundRun, GroupStore } from "./store.ts";

export type RunnerDeps = ServerDeps & {
  groups: Pick<GroupStore, "openRuns" | "findMembers" | "move">;
  log: Logger;
  now: () => number;
};

// A stage takes few plans; more in one pass would be a defect of the rules.
const maxPlansPerPass = 30;
const serversAtOnce = 8;

/** One pass over all runs that are under way; `signal` ends it before the next run. False when there was none. */
export async function passOverRuns(deps: RunnerDeps, signal?: AbortSignal): Promise<boolean> {
  const found = await deps.groups.openRuns();
  const { run } = createSemaphore(deps.settings.group_concurrency);
  await Promise.all(
    found.map((one) =>
      run(async () => {
        if (signal?.aborted) return;
        await advance(deps, one).catch((error: Error) =>
          deps.log.warn(
            { group: one.row.group_id, error: error.message },
            "pass over the run of a group failed; retrying with the next tick",
          ),
        );
      }),
    ),
  );
  return found.length > 0;
}

/** Decides and acts until the run has to wait or has ended. */
async function advance(deps: RunnerDeps, found: FoundRun): Promise<void> {
  let { row } = found;
  for (let left = maxPlansPerPass; left > 0; left--) {
    const now = { ...found, row };
    const observed = await observe(deps, now);
    const plan = decide(observed);
    const moved = await act(deps, now, { observed, plan });
    if (moved?.state !== "running") return;
    row = moved;
    // Whoever was refused is not asked again before the next tick.
    if (plan.kind === "ask") return;
  }
  deps.log.error({ group: row.group_id, run: row.id }, "run of a group does not end");
}

/** From the cluster itself: our copy may be older than what another replica did for the same run. */
async function observe(deps: RunnerDeps, { accountId, row }: FoundRun): Promise<Seen> {
  const { kube, namespace, settings } = deps;
  const names = (row.stages[row.stage] ?? []).map(({ name }) => name);
  const members = await deps.groups.findMembers(row.group_id, names);
  const { run } = createSemaphore(serversAtOnce);
  const seen = await Promise.all(
    [...members].map(([name, member]) =>
      run(async () => {
        const found = await kube.find(resource, { name, namespace });
        const server = found?.metadata.deletionTimestamp === undefined ? found : undefined;
        const may = hasRight(accountId, { name, row: member }, "power");
        return [name, { server, may, row: member }] as const;
      }),
    ),
  );
  const about = { run: toRun(row), now: deps.now(), autoRestarts: settings.auto_restarts };
  return { ...about, seen: new Map(seen) };
}

type Seen = Omit<Observed, "seen"> & {
  seen: ReadonlyMap<
    string,
    { server: Server | undefined; may: boolean; row: Parameters<typeof askServer>[2]["row"] }
  >;
};

/** The row as it is afterwards; undefined when there is nothing to do now, or somebody else was faster. */
async function act(
  deps: RunnerDeps,
  found: FoundRun,
  { observed, plan }: { observed: Seen; plan: Plan },
): Promise<RunRow | undefined> {
  const { row } = found;
  const { move } = deps.groups;
  switch (plan.kind) {
    case "rest":
      return undefined;
    case "ask": {
      const answers = await askAll(deps, found, { observed, names: plan.names });
      return move(row, { stages: withAnswers(plan.stages, answers) });
    }
    case "save":
      return move(row, { stages: plan.stages });
    case "next-stage":
      return move(row, { stages: plan.stages, stage: plan.stage, stage_until: new Date(plan.until) });
    case "end":
      return move(row, { stages: plan.stages, state: plan.state, ended_at: new Date(deps.now()) });
  }
}

async function askAll(
  deps: RunnerDeps,
  found: FoundRun,
  { observed, names }: { observed: Seen; names: readonly string[] },
): Promise<Map<string, Answer>> {
  const { run } = createSemaphore(serversAtOnce);
  const answers = await Promise.all(
    names.map((name) =>
      run(async () => {
        const one = observed.seen.get(name);
        if (!one?.server) return [];
        return [[name, await askServer(deps, found, { server: one.server, row: one.row })] as const];
      }),
    ),
  );
  return new Map(answers.flat());
}
