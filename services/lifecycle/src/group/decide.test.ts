// The rules of a run as a table: what is seen of one server, and what becomes of it.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { serverGroups as contracts } from "@svc/proto";
import { annotation, type Server } from "../cluster/resource.ts";
import { aServer } from "../testing/observed.ts";
import { decide, newStages, type Observed, type Plan, type Run, type Seen, withAnswers } from "./decide.ts";

const now = Date.parse("2026-03-02T05:00:00.000Z");
const minute = 60_000;

type State = {
  desired?: "Running" | "Stopped";
  phase?: "Running" | "Starting" | "Stopping" | "Stopped" | "Failed";
  ready?: boolean;
  marked?: string;
  reason?: string;
  retrying?: boolean;
  unseen?: boolean;
};

function server({
  desired = "Running",
  phase = "Running",
  ready = phase === "Running",
  ...more
}: State): Server {
  const base = aServer({ desiredState: desired });
  const annotations = {
    ...(more.marked && { [annotation.groupRun]: more.marked }),
    ...(more.retrying && { [annotation.startRetry]: "now" }),
  };
  const { reason = "InvalidSpec" } = more;
  const conditions = [
    {
      type: "Ready",
      status: "False" as const,
      reason,
      message: "",
      lastTransitionTime: "2026-03-02T04:00:00Z",
    },
  ];
  return {
    ...base,
    metadata: { ...base.metadata, annotations, generation: 2 },
    status: { phase, ready, conditions, observedGeneration: more.unseen ? 1 : 2 },
  };
}

const run = (change: Partial<Run> = {}): Run => ({
  ...{ id: "run-1", direction: "start", cancelling: false, stage: 0 },
  ...{ stageUntil: now + minute, stageMs: minute, stages: [[{ name: "alpha", result: "waiting" }]] },
  ...change,
});
const seen = (state: State | undefined, may = true): Seen => ({
  server: state && server(state),
  may,
});
const observe = (change: Partial<Run>, alpha: Seen | undefined): Observed => ({
  ...{ run: run(change), now, autoRestarts: 3 },
  seen: new Map(alpha && [["alpha", alpha]]),
});

type Row = {
  fact: string;
  run?: Partial<Run>;
  was?: contracts.ServerResult;
  code?: string;
  alpha: Seen | undefined;
  /** Undefined: it is asked. */
  becomes: contracts.ServerResult | "is asked" | "stays";
  says?: string;
};
const stopping = { direction: "stop" } as const;
const late = { stageUntil: now };
const asleep: State = { desired: "Stopped", phase: "Stopped" };

const rows: readonly Row[] = [
  { fact: "a sleeping server", alpha: seen(asleep), becomes: "is asked" },
  { fact: "one that runs already", alpha: seen({}), becomes: "done" },
  { fact: "one that starts already", alpha: seen({ phase: "Starting" }), becomes: "is asked" },
  { fact: "one that is about to stop", alpha: seen({ desired: "Stopped" }), becomes: "is asked" },
  { fact: "one that has failed", alpha: seen({ phase: "Failed" }), becomes: "is asked" },
  {
    fact: "one that this run asked already",
    alpha: seen({ phase: "Starting", marked: "run-1" }),
    becomes: "asked",
  },
  { fact: "one that another run asked", alpha: seen({ ...asleep, marked: "run-0" }), becomes: "is asked" },
  {
    fact: "one that this run asked and somebody stopped",
    ...{ alpha: seen({ ...asleep, marked: "run-1" }), becomes: "changed" },
  },
  { fact: "one without the right", alpha: seen(asleep, false), becomes: "refused", says: "forbidden" },
  { fact: "one that runs, without the right", alpha: seen({}, false), becomes: "refused", says: "forbidden" },
  { fact: "one that has left the group", alpha: undefined, becomes: "left" },
  { fact: "one that was deleted", alpha: seen(undefined), becomes: "left" },
  { fact: "one that was not asked in time", run: late, alpha: seen(asleep), becomes: "late" },
  {
    fact: "one that was refused until the time was up",
    ...{ run: late, code: "at_capacity", alpha: seen(asleep), becomes: "refused", says: "at_capacity" },
  },
  {
    fact: "one that is refused, with time left",
    code: "at_capacity",
    alpha: seen(asleep),
    becomes: "is asked",
  },
  { fact: "an asked one that starts", was: "asked", alpha: seen({ phase: "Starting" }), becomes: "stays" },
  {
    fact: "an asked one that is up and not ready",
    was: "asked",
    alpha: seen({ ready: false }),
    becomes: "stays",
  },
  { fact: "an asked one that is ready", was: "asked", alpha: seen({}), becomes: "done" },
  { fact: "one that is ready when time is up", was: "asked", run: late, alpha: seen({}), becomes: "done" },
  {
    fact: "an asked one that starts when time is up",
    ...{ was: "asked", run: late, alpha: seen({ phase: "Starting" }), becomes: "late" },
  },
  { fact: "an asked one that gave up", was: "asked", alpha: seen({ phase: "Failed" }), becomes: "failed" },
  {
    fact: "an asked one whose failure is that of before",
    ...{ was: "asked", alpha: seen({ phase: "Failed", unseen: true }), becomes: "stays" },
  },
  {
    fact: "an asked one that is about to be tried again",
    ...{ was: "asked", alpha: seen({ phase: "Failed", retrying: true }), becomes: "stays" },
  },
  { fact: "an asked one that somebody stopped", was: "asked", alpha: seen(asleep), becomes: "changed" },
  { fact: "an asked one that was deleted", was: "asked", alpha: seen(undefined), becomes: "left" },
  { fact: "an asked one without the right", was: "asked", alpha: seen({}, false), becomes: "done" },
  { fact: "stopping one that runs", run: stopping, alpha: seen({}), becomes: "is asked" },
  { fact: "stopping one that sleeps", run: stopping, alpha: seen(asleep), becomes: "done" },
  { fact: "stopping one that no pass has seen", run: stopping, alpha: { ...seen(asleep) }, becomes: "done" },
  {
    fact: "stopping an asked one that stops",
    ...{
      run: stopping,
      was: "asked",
      alpha: seen({ desired: "Stopped", phase: "Stopping" }),
      becomes: "stays",
    },
  },
  {
    fact: "stopping an asked one that sleeps",
    run: stopping,
    was: "asked",
    alpha: seen(asleep),
    becomes: "done",
  },
  {
    fact: "stopping an asked one that somebody started",
    run: stopping,
    was: "asked",
    alpha: seen({}),
    becomes: "changed",
  },
  {
    fact: "stopping an asked one when time is up",
    ...{ run: { ...stopping, ...late }, was: "asked", becomes: "late" },
    alpha: seen({ desired: "Stopped", phase: "Stopping" }),
  },
];

const outcome = (plan: Plan): string => {
  if (plan.kind === "rest") return "stays";
  if (plan.kind === "ask") return "is asked";
  return plan.stages[0]?.[0]?.result ?? "nothing";
};

describe("in a run", () => {
  for (const { fact, was = "waiting", code, alpha, becomes, says, ...row } of rows)
    test(`${fact}: ${becomes}`, () => {
      const stages = [[{ name: "alpha", result: was, ...(code !== undefined && { code }) }]];
      const plan = decide(observe({ ...row.run, stages }, alpha));
      assert.equal(outcome(plan), becomes);
      if (says !== undefined && plan.kind !== "rest") assert.equal(plan.stages[0]?.[0]?.code, says);
    });
});

type Result = contracts.ServerResult;
const stage = (...results: Result[]) => results.map((result, at) => ({ name: `s${at}`, result }));
const of = (plan: Plan) =>
  plan.kind === "rest" ? [] : plan.stages.map((one) => one.map(({ result }) => result));
const nobody = (change: Partial<Run>): Observed => ({
  run: run(change),
  now,
  autoRestarts: 3,
  seen: new Map(),
});

describe("a stage", () => {
  const next = stage("waiting");
  test("is followed by the next one when all are done or have left, with a time of its own", () => {
    const plan = decide(nobody({ stages: [stage("done", "left"), next] }));
    assert.deepEqual(
      [plan.kind, plan.kind === "next-stage" && [plan.stage, plan.until]],
      ["next-stage", [1, now + minute]],
    );
  });
  for (const result of ["refused", "failed", "late", "changed"] as const)
    test(`with a server that is ${result} is the last one, and the others are left out`, () => {
      const plan = decide(nobody({ stages: [stage("done", result), next, next] }));
      assert.deepEqual(
        [plan.kind === "end" && plan.state, of(plan)],
        ["failed", [["done", result], ["left_out"], ["left_out"]]],
      );
    });
  test("with a server that is refused waits for the others", () => {
    const stages = [
      [
        { name: "beta", result: "refused" as const },
        { name: "alpha", result: "asked" as const },
      ],
    ];
    assert.equal(decide(observe({ stages }, seen({ phase: "Starting" }))).kind, "rest");
  });
  test("that is the last one ends the run", () => {
    const plan = decide(nobody({ stage: 1, stages: [stage("done"), stage("done")] }));
    assert.equal(plan.kind === "end" && plan.state, "done");
  });
  test("asks its servers together, and only those", () => {
    const stages = [
      [
        { name: "alpha", result: "waiting" as const },
        { name: "beta", result: "done" as const },
      ],
      next,
    ];
    const plan = decide(observe({ stages }, seen(asleep)));
    assert.deepEqual(plan.kind === "ask" && plan.names, ["alpha"]);
  });
});

describe("a run that is cancelled", () => {
  const cancelling = true;
  test("asks nobody any more", () => {
    const plan = decide(observe({ cancelling, stages: [...run().stages, stage("waiting")] }, seen(asleep)));
    assert.deepEqual(
      [plan.kind === "end" && plan.state, of(plan)],
      ["cancelled", [["left_out"], ["left_out"]]],
    );
  });
  test("says of a server that was asked just before that it was", () => {
    const plan = decide(observe({ cancelling }, seen({ phase: "Starting", marked: "run-1" })));
    assert.deepEqual([plan.kind === "end" && plan.state, of(plan)], ["cancelled", [["asked"]]]);
  });
});

test("answers become results: what may clear up is asked again, what will not is not", () => {
  const stages = [stage("waiting", "waiting", "waiting", "waiting"), stage("waiting")];
  const answers = new Map([
    ["s1", { kind: "asked" }],
    ["s2", { kind: "refused", fault: "at_capacity" }],
    ["s3", { kind: "refused", fault: "maintenance_window" }],
  ] as const);
  const [first] = withAnswers([stages[0] ?? []], answers);
  assert.deepEqual(first, [
    { name: "s0", result: "waiting" },
    { name: "s1", result: "asked" },
    { name: "s2", result: "waiting", code: "at_capacity" },
    { name: "s3", result: "refused", code: "maintenance_window" },
  ]);
});

test("a group stops in the opposite order", () => {
  const order = (direction: contracts.Direction) =>
    newStages(direction, [["a", "b"], ["c"]]).map((one) => one.map(({ name }) => name));
  assert.deepEqual(
    [order("start"), order("stop")],
    [
      [["a", "b"], ["c"]],
      [["c"], ["a", "b"]],
    ],
  );
});
