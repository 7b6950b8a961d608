// What happens next in the run of a group (docs/reference/groups.md#run). Pure.
//
// A run is at one stage. Each server of it is
//   waiting -> asked -> done                     it was asked once, and is ready or stopped
//   waiting -> done                              it was there already
//   waiting -> refused, late, left               it was not asked
//   asked   -> failed, late, changed, left       it does not become what it should
// When no server of the stage is waiting or asked, the next stage begins if all are done or have left, else the run ends
// and leaves the stages behind it out.

import { type serverGroups as contracts, type FaultName, faults } from "@svc/proto";
import { annotation, type Server, wantsToRun } from "../cluster/resource.ts";
import { hasGivenUp } from "../server/info.ts";

/** A run without what only people read. */
export type Run = {
  id: string;
  direction: contracts.Direction;
  cancelling: boolean;
  stage: number;
  /** Unix milliseconds. */
  stageUntil: number;
  stageMs: number;
  stages: readonly (readonly contracts.RunServer[])[];
};

/** A server of the stage; absent in what is observed: it has left the group. */
export type Seen = {
  /** Undefined when it is deleted. */
  server: Server | undefined;
  /** Whether the account of the group may start and stop it. */
  may: boolean;
};

export type Observed = {
  run: Run;
  seen: ReadonlyMap<string, Seen>;
  now: number;
  autoRestarts: number;
};

type Stages = contracts.RunServer[][];

export type Plan =
  | { kind: "rest" }
  /** Asks servers of the stage; their answers are stored with `stages`. */
  | { kind: "ask"; names: readonly string[]; stages: Stages }
  | { kind: "save"; stages: Stages }
  | { kind: "next-stage"; stages: Stages; stage: number; until: number }
  | { kind: "end"; state: Exclude<contracts.RunState, "running">; stages: Stages };

const open: ReadonlySet<contracts.ServerResult> = new Set(["waiting", "asked"]);
const good: ReadonlySet<contracts.ServerResult> = new Set(["done", "left"]);

export function decide(observed: Observed): Plan {
  const { run, now } = observed;
  const before = run.stages[run.stage] ?? [];
  const after = before.map((one) => settle(one, observed));
  const stages = run.stages.map((stage, at) => (at === run.stage ? after : [...stage]));
  if (run.cancelling) return { kind: "end", state: "cancelled", stages: withRestLeftOut(stages) };
  if (!after.some(({ result }) => open.has(result))) {
    if (!after.every(({ result }) => good.has(result)))
      return { kind: "end", state: "failed", stages: withRestLeftOut(stages) };
    const stage = run.stage + 1;
    return stage < stages.length
      ? { kind: "next-stage", stages, stage, until: now + run.stageMs }
      : { kind: "end", state: "done", stages };
  }
  const names = after.filter(({ result }) => result === "waiting").map(({ name }) => name);
  if (names.length > 0) return { kind: "ask", names, stages };
  const isChanged = after.some(({ result }, at) => result !== before[at]?.result);
  return isChanged ? { kind: "save", stages } : { kind: "rest" };
}

function withRestLeftOut(stages: Stages): Stages {
  return stages.map((stage) =>
    stage.map((one) => (one.result === "waiting" ? { name: one.name, result: "left_out" as const } : one)),
  );
}

function settle(one: contracts.RunServer, observed: Observed): contracts.RunServer {
  const { name, result } = one;
  if (!open.has(result)) return one;
  const seen = observed.seen.get(name);
  if (!seen?.server) return { name, result: "left" };
  const { server, may } = seen;
  if (result === "asked" || isMarked(server, observed.run)) return settleAsked(name, server, observed);
  if (!may) return { name, result: "refused", code: faults.forbidden.code };
  if (isThere(server, observed.run)) return { name, result: "done" };
  if (!isLate(observed)) return one;
  return one.code === undefined ? { name, result: "late" } : { ...one, result: "refused" };
}

function settleAsked(name: string, server: Server, observed: Observed): contracts.RunServer {
  const { run, autoRestarts } = observed;
  if (isThere(server, run)) return { name, result: "done" };
  if (wantsToRun(server) !== (run.direction === "start")) return { name, result: "changed" };
  if (run.direction === "start" && isSettled(server) && hasGivenUp(server, autoRestarts))
    return { name, result: "failed" };
  return { name, result: isLate(observed) ? "late" : "asked" };
}

/** This run asked it: written in one request with what was asked, so that it is asked once whoever dies. */
function isMarked({ metadata }: Server, { id }: Run): boolean {
  return metadata.annotations?.[annotation.groupRun] === id;
}

function isThere(server: Server, { direction }: Run): boolean {
  const { phase, ready } = server.status ?? {};
  if (direction === "start") return wantsToRun(server) && phase === "Running" && ready === true;
  return !wantsToRun(server) && (phase ?? "Stopped") === "Stopped";
}

/** Its status is about what it was asked, not about the run before. */
function isSettled({ metadata, status }: Server): boolean {
  const isNew = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  return isNew && metadata.annotations?.[annotation.startRetry] === undefined;
}

function isLate({ run, now }: Observed): boolean {
  return now >= run.stageUntil;
}

/** How a request to a server ended. */
export type Answer = { kind: "asked" } | { kind: "refused"; fault: FaultName };

// What may clear up within the time of a stage.
const transient: ReadonlySet<FaultName> = new Set([
  "at_capacity",
  "cooldown",
  "maintenance_in_progress",
  "world_reclaiming",
  "unavailable",
  "overloaded",
]);

/** The stages after servers were asked. */
export function withAnswers(stages: Stages, answers: ReadonlyMap<string, Answer>): Stages {
  return stages.map((stage) =>
    stage.map((one) => {
      const answer = answers.get(one.name);
      if (!answer) return one;
      if (answer.kind === "asked") return { name: one.name, result: "asked" as const };
      const result = transient.has(answer.fault) ? ("waiting" as const) : ("refused" as const);
      return { name: one.name, result, code: faults[answer.fault].code };
    }),
  );
}

/** The stages of a run that begins now, in its order. */
export function newStages(
  direction: contracts.Direction,
  stages: readonly (readonly string[])[],
): contracts.RunServer[][] {
  const ordered = direction === "start" ? stages : stages.toReversed();
  return ordered.map((stage) => stage.map((name) => ({ name, result: "waiting" as const })));
}
